// Finds which threads can be alive at once from their creators and joins, and
// computes a bound on the sum of their peaks.
//
//   AddChild(open_phases, creator, child);   // before the creation
//   RaiseHighest(open_phases, live_bytes, creator);
//   JoinChild(open_phases, child);  // after the join
//
// A thread that its creator joined cannot overlap with what the creator does
// afterwards, nor with a thread that the creator creates afterwards. That holds
// whatever the scheduler does, so what follows from it alone is the same in
// every run. Nothing follows from turns that locks, barriers or atomics order:
// another run may take them differently. A thread counts as alive as long as
// the phase is open, and is called a root, if it is detached, joined by a
// thread other than its creator, not joined before its creator ends, or not
// known to have been created.
//
// The counters call these functions under ProcessLock: when a thread is
// created, joined or ends and when a phase begins or ends, but never for an
// allocation.
//
// The sum. The live bytes of the process are the sum of what each thread
// allocated less what it freed. At any moment a thread is between two of its
// creations and joins. Threads that it created and joined before that point
// contribute the bytes they left; those that it creates later contribute
// nothing; those between contribute at most their own highest sum.
// `highest_net_bytes` holds this bound for a segment of the thread's course, so
// the root's highest value bounds every interleaving.
//
// The overlap. Below, a call means a call that allocates, frees or maps. Two
// threads' calls are unordered if one thread calls between the creation and the
// join of a child that calls too, or if it creates and joins two such children
// whose lives intersect.
//
// Not thread-safe. Memory: 1.4 KiB a thread, which the caller owns. Time:
// linear in the children that a thread has not joined, times the open phases.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_TREE_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_TREE_H_

#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr int kMaxOpenPhases = 33;
// A bit for each phase.
using PhaseSet = uint64_t;
static_assert(kMaxOpenPhases <= 64);

struct ThreadNode {
  // One phase's figures of the thread. All are zero for a thread that begins in
  // the phase.
  struct InPhase {
    int64_t begin_live_bytes = 0;
    uint64_t begin_activity = 0;
    // Net bytes that joined threads left (positive) or freed (negative).
    int64_t joined_net_bytes = 0;
    // The highest net bytes since the thread created the youngest child that it
    // has not joined: its own bytes and those of joined children.
    int64_t highest_net_bytes = 0;
    // The creator's highest net bytes, in the segment that ended with this
    // thread's creation.
    int64_t creator_highest_net_bytes = 0;
  };

  // Allocated less freed bytes, and a count that grows with every call, as of
  // the thread's last update.
  int64_t live_bytes = 0;
  uint64_t activity = 0;
  // The creator's activity when the creation was over.
  uint64_t creator_activity = 0;
  // The thread that created it; null for a root.
  ThreadNode* creator = nullptr;
  // The children that were not joined, in order of creation.
  ThreadNode* first_child = nullptr;
  ThreadNode* last_child = nullptr;
  ThreadNode* previous_sibling = nullptr;
  ThreadNode* next_sibling = nullptr;
  // Phases in which joined descendants were active; phases in which threads
  // below this one overlapped; phases in which a sibling was active that was
  // joined during this thread's life.
  PhaseSet active = 0;
  PhaseSet overlapping = 0;
  PhaseSet sibling_active = 0;
  InPhase in_phase[kMaxOpenPhases];
};

// Begins a phase for this thread.
void BeginPhase(int phase, ThreadNode* node);

// Records that `live_bytes`, the thread's own, were live at one moment since
// the last call of RaiseHighest, AddChild or JoinChild for it.
void RaiseHighest(PhaseSet open, int64_t live_bytes, ThreadNode* node);

// Adds a child before its creation. `creator`'s live_bytes and highest must be
// up to date.
void AddChild(PhaseSet open, ThreadNode* creator, ThreadNode* child);

// Joins a child after its end. The creator's live_bytes and highest must be up
// to date, and its `activity` is that of the start of the join. The child's
// figures are final, and it has no children.
void JoinChild(PhaseSet open, ThreadNode* child);

// Turns a child into a root.
void DetachChild(PhaseSet open, ThreadNode* child);

// Returns the highest sum of the thread and the threads below it.
int64_t HighestNetBytes(int phase, const ThreadNode& node);
// Returns whether the thread or a thread below it allocated, freed or mapped in
// the phase.
bool IsActive(int phase, const ThreadNode& node);
// Returns whether some calls of the thread and of those below it are unordered.
bool Overlaps(int phase, const ThreadNode& node);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_TREE_H_
