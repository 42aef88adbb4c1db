// The counting behind heap_accounting.h: what the entry points in
// allocation_entry_points.cc call around each allocation, and the phases.
//
// Everything here works before main, inside malloc and at a thread's end, so it
// allocates nothing and uses no library that might.
//
// Each thread has counters of its own, and two thresholds for its live bytes
// (hysteresis). Invariant with several threads: the sum of all upper
// thresholds, and of what threads that ended left live, is at most the peak
// known so far. No thread above its upper threshold means no new peak; a thread
// that passes it takes the lock and sums. The lower threshold is 4 KiB below
// the upper one: a thread that frees its way below it takes the lock to move
// both, so a racing sum is wrong by at most 4 KiB a thread.
//
// Which threads can be alive at once is known from their creations and joins
// (thread_entry_points.cc, thread_tree.h).

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "footprint/profiling/heap/heap_metrics.h"
#include "footprint/profiling/heap/thread_tree.h"

namespace footprint::profiling_internal {

// How far a free-running thread may stray from what it has published.
inline constexpr int64_t kHysteresisBytes = 4096;
// What counters point to until the thread is registered.
extern const uint64_t kNoBytes;

// What the process keeps of a thread, from its creation until it is joined; not
// in the thread's storage, which goes before that.
struct ThreadRecord;

// One thread's counters, in the thread's own storage. The thread writes them,
// except for what the holder of the process's lock may write: everything after
// `state`.
struct ThreadCounters {
  enum class State : int { kNew, kRegistered, kEnded };

  // jemalloc's own counters of the thread.
  const uint64_t* allocated_bytes = &kNoBytes;
  const uint64_t* deallocated_bytes = &kNoBytes;
  std::atomic<int64_t> allocation_count{0};
  // Bytes that a realloc in place kept: jemalloc counts them again.
  std::atomic<int64_t> kept_in_place_bytes{0};
  State state = State::kNew;
  // Since the last phase event, creation or join by this thread: the
  // high-water mark of its live bytes.
  std::atomic<int64_t> peak_absolute_bytes{INT64_MIN};
  // What remains is also written by others, under the lock.
  //
  // Live bytes cannot have passed peak or threshold while `*allocated_bytes` is
  // below this: it is the allocation's only test. Zero, so that every
  // allocation is looked at, unless the thread is the only one.
  std::atomic<uint64_t> check_at_bytes{0};
  // An allocation that lifts the live bytes above the upper threshold, and a
  // free that sinks them below the lower one, take the lock; so does every call
  // of a thread that is not registered.
  std::atomic<int64_t> upper_threshold_bytes{INT64_MIN};
  std::atomic<int64_t> lower_threshold_bytes{INT64_MAX};
  // False while the thread is the only one, whose frees concern nobody.
  std::atomic<bool> has_lower_threshold{true};
  // The upper threshold as the process counts it. The thread's own thresholds
  // follow it, unless `thresholds_are_pending`: then they make the thread's
  // next call take the lock.
  int64_t counted_upper_threshold_bytes = 0;
  bool thresholds_are_pending = false;
  // Read under the lock for one sum over all threads.
  int64_t summed_live_bytes = 0;
  // Another thread's since, if the numbers differ.
  ThreadRecord* record = nullptr;
  uint64_t record_number = 0;
  ThreadCounters* next = nullptr;
  // Calls that mapped or unmapped; written under the lock.
  uint64_t mapping_count = 0;

  int64_t live_bytes() const {
    return static_cast<int64_t>(
        __atomic_load_n(allocated_bytes, __ATOMIC_RELAXED) -
        __atomic_load_n(deallocated_bytes, __ATOMIC_RELAXED));
  }
  uint64_t activity() const {
    return __atomic_load_n(allocated_bytes, __ATOMIC_RELAXED) +
           __atomic_load_n(deallocated_bytes, __ATOMIC_RELAXED) + mapping_count;
  }
};

// __thread, not thread_local: no wrapper function around each use.
extern __thread ThreadCounters thread_counters
    __attribute__((tls_model("initial-exec")));

// The slow halves of the functions below. Returns `block`, so that an entry
// point can end in this call.
void* CheckAllocation(void* block);
void FreedBelowLowerThreshold();
void RegisterThread();

inline void CountCall(ThreadCounters* counters) {
  counters->allocation_count.store(
      counters->allocation_count.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

// To be called after every call that handed `block` out; returns it.
inline void* AfterAllocation(void* block) {
  ThreadCounters* counters = &thread_counters;
  CountCall(counters);
  if (__builtin_expect(
          __atomic_load_n(counters->allocated_bytes, __ATOMIC_RELAXED) >=
              counters->check_at_bytes.load(std::memory_order_relaxed),
          0)) {
    return CheckAllocation(block);
  }
  return block;
}

// While it is false, a call that takes memory back need not be followed by
// AfterDeallocation. A call that looked before the answer became true is
// allowed for: see `thresholds_are_pending`.
inline bool FreesAreCounted() {
  return __builtin_expect(
      thread_counters.has_lower_threshold.load(std::memory_order_relaxed), 0);
}

// To be called after every call that took memory back, if FreesAreCounted() was
// true before or might be now.
inline void AfterDeallocation() {
  ThreadCounters* counters = &thread_counters;
  if (counters->has_lower_threshold.load(std::memory_order_relaxed) &&
      counters->live_bytes() <
          counters->lower_threshold_bytes.load(std::memory_order_relaxed)) {
    FreedBelowLowerThreshold();
  }
}

// Around a call that may move a block:
//   Reallocation call;
//   void* moved = ...realloc(block, size);
//   call.After(/*in_place=*/moved == block, /*succeeded=*/moved != nullptr);
class Reallocation {
 public:
  Reallocation();
  void After(bool in_place, bool succeeded);

 private:
  uint64_t allocated_bytes_before_;
  uint64_t deallocated_bytes_before_;
};

// Around pthread_create, of a thread that can be joined:
//   ThreadRecord* record = BeginThread(function, argument);
//   error = real_pthread_create(&thread, attributes, RunThread, record);
//   EndCreation(record, error, &thread);
// Null: the thread is to be created without.
ThreadRecord* BeginThread(void* (*function)(void*), void* argument);
void* RunThread(void* record);
void EndCreation(ThreadRecord* record, int error, const pthread_t* thread);

// Around a call that may join `thread`; and before one that detaches it.
ThreadRecord* BeginJoin(pthread_t thread);
void EndJoin(ThreadRecord* record, bool succeeded);
void ForgetThread(pthread_t thread);

// Bytes that the program mapped (positive) or unmapped (negative) by itself. A
// call of the thread, which should be registered.
void CountMappedBytes(int64_t change_bytes);

// True once an entry point has counted an allocation.
bool CountersAreInUse();

// The phase that began with the process's first allocation.
inline constexpr int kProcessPhase = 0;

// The number of the phase, or -1 if kMaxOpenPhases are open.
int BeginPhase();
// The phase up to now.
HeapPhaseBytes ReadPhase(int phase);
HeapPhaseBytes EndPhase(int phase);

// Live bytes of the process now.
int64_t ProcessLiveBytes();
// Child processes that fork made so far.
int ForkedProcessCount();

// What counts requested bytes, if anything does; see requested_bytes.h.
struct RequestedBytesCounter {
  int64_t (*live_bytes)();
  // The peak since the last call; the next peak begins at the live bytes.
  int64_t (*take_peak_absolute_bytes)();
};
void SetRequestedBytesCounter(const RequestedBytesCounter* counter);
bool RequestedBytesHaveCounter();

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_
