// Finds the threads that can be alive at once, by their creators and joins, and
// the sum of their peaks.
//
//   AddChild(open_phases, creator, child);   // before the creation
//   RaiseHighest(open_phases, live_bytes, creator);
//   JoinChild(open_phases, child);  // after the join
//
// A thread that its creator joined cannot overlap with what the creator does
// afterwards, nor with a thread that the creator creates afterwards. That holds
// whatever the scheduler does, so what follows from it alone is the same in
// every run. Nothing follows from turns that locks, barriers or atomics make:
// they may be taken in another order. A thread that is detached, joined by
// another than its creator, not joined before its creator ends, or not known to
// have been created counts as alive as long as the phase is open: a root.
//
// The counters call these functions under ProcessLock, at creation, join and
// end of threads and where phases begin and end; never for an allocation.
//
// The sum. The live bytes of the process are the sum of what each thread
// allocated less what it freed. At any moment a thread is at some place of its
// own course, between two of its creations and joins. The threads that it
// created and joined before that place contribute what they left; those that it
// creates later, nothing; those between, at most their own highest sum.
// `highest_net_bytes` is that for the segments of the course: so the highest of
// the root bounds every interleaving.
//
// The overlap. Two threads' calls are in no order if one thread calls between
// the creation and the join of a thread that calls too, or creates and joins
// two such threads so that their lives intersect.
//
// Not thread-safe. Memory: 1.5 KiB a thread, the owner's. Time: linear in the
// children that a thread has not joined, times the open phases.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_TREE_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_TREE_H_

#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr int kMaxOpenPhases = 33;
// A bit for each phase.
using PhaseSet = uint64_t;
static_assert(kMaxOpenPhases <= 64);

struct ThreadNode {
  // One phase's figures of the thread. Zero for a thread that begins in it.
  struct InPhase {
    int64_t begin_live_bytes = 0;
    uint64_t begin_activity = 0;
    // Bytes that threads that it joined left, or took away.
    int64_t joined_net_bytes = 0;
    // The highest net bytes since it created the youngest of the children it
    // has not joined: its own and those of children that it joined.
    int64_t highest_net_bytes = 0;
    // The same of its creator, in the segment that ended with its creation.
    int64_t creator_highest_net_bytes = 0;
  };

  // Allocated less freed, and a count that grows with every call; as of the
  // owner's last look.
  int64_t live_bytes = 0;
  uint64_t activity = 0;
  // The creator's, when the creation was over.
  uint64_t creator_activity = 0;
  // The thread that created it; null: a root.
  ThreadNode* creator = nullptr;
  // The children that were not joined, in order of creation.
  ThreadNode* first_child = nullptr;
  ThreadNode* last_child = nullptr;
  ThreadNode* previous_sibling = nullptr;
  ThreadNode* next_sibling = nullptr;
  // Phases in which joined descendants were active; in which threads below
  // this one overlapped; in which a sibling was active that was joined while
  // this thread lived.
  PhaseSet active = 0;
  PhaseSet overlapping = 0;
  PhaseSet sibling_active = 0;
  InPhase in_phase[kMaxOpenPhases];
};

// Begins a phase for every thread.
void BeginPhase(int phase, ThreadNode* node);

// `live_bytes` were live at once, the thread's own, since the last call of
// RaiseHighest, AddChild or JoinChild for it.
void RaiseHighest(PhaseSet open, int64_t live_bytes, ThreadNode* node);

// Adds a child before its creation. `creator`'s live_bytes and highest are up
// to date.
void AddChild(PhaseSet open, ThreadNode* creator, ThreadNode* child);

// Joins a child after its end. The creator's live_bytes and highest are up to
// date, its `activity` is as of the start of the join; the child's are final,
// and it has no children.
void JoinChild(PhaseSet open, ThreadNode* child);

// Makes a root of a child.
void DetachChild(PhaseSet open, ThreadNode* child);

// The highest sum of the thread and of those below it.
int64_t HighestNetBytes(int phase, const ThreadNode& node);
// Returns whether it or a thread below it called.
bool IsActive(int phase, const ThreadNode& node);
// Returns whether the calls of it and of those below it are not all in order.
bool Overlaps(int phase, const ThreadNode& node);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_TREE_H_
