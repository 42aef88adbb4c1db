// What the entry points in allocation_entry_points.cc and
// mapping_entry_points.cc call around each call of the program.
//
//   return AfterAllocation(real_malloc(size));
//
// Everything here works before main, inside malloc and at a thread's end, so it
// allocates nothing. How a thread's own counters make the process's peak:
// process_counters.h. Which threads can be alive at once: thread_creation.h.
//
// Thread-safety: any thread may call these functions.

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/thread_registration.h"

namespace footprint::profiling_internal {

// The slow halves of the functions below. Returns `block`, so that an entry
// point can end in this call.
void* CheckAllocation(void* block);
void FreedBelowLowerThreshold();

inline void CountCall(ThreadCounters* counters) {
  counters->allocation_count.store(
      counters->allocation_count.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

// Whether the allocation that was counted last needs CheckAllocation.
inline bool MustBeChecked(const ThreadCounters& counters) {
  return __builtin_expect(
      __atomic_load_n(counters.allocated_bytes, __ATOMIC_RELAXED) >=
          counters.check_at_bytes.load(std::memory_order_relaxed),
      0);
}

// To be called after every call that handed `block` out; returns it.
inline void* AfterAllocation(void* block) {
  CountCall(&thread_counters);
  if (MustBeChecked(thread_counters)) return CheckAllocation(block);
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

// Bytes that the program mapped (positive) or unmapped (negative) by itself. A
// call of the thread, which should be registered.
void CountMappedBytes(int64_t change_bytes);

void SetRequestedBytesCounter(const RequestedBytesCounter* counter);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_
