// What the entry points in allocation_entry_points.cc and
// mapping_entry_points.cc call around each call of the program.
//
//   if (MayGoUnlooked(size)) return real_malloc(size);
//   return CheckAllocation(real_malloc(size));
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

inline void CountCalls(int64_t count) {
  std::atomic<int64_t>* const calls = &thread_counters.allocation_count;
  calls->store(calls->load(std::memory_order_relaxed) + count,
               std::memory_order_relaxed);
}

// An allocator may hand out up to a quarter, and 16 bytes, more than it is
// asked for (jemalloc's size classes). So calls that ask for no more than
// BudgetOf(headroom), each with kBytesPerCall besides, use up at most the
// headroom.
inline constexpr uint64_t kBytesPerCall = 13;
inline uint64_t BudgetOf(uint64_t headroom_bytes) {
  // Below four fifths, and faster.
  return headroom_bytes - headroom_bytes / 4;
}

// To be called before an allocation of a size: counts the call, and says
// whether CheckAllocation may be left out after it.
inline bool MayGoUnlooked(size_t size) {
  ThreadCounters* const counters = &thread_counters;
  CountCalls(1);
  const uint64_t budget_bytes =
      counters->budget_bytes.load(std::memory_order_relaxed);
  if (size < budget_bytes && size + kBytesPerCall <= budget_bytes) {
    counters->budget_bytes.store(budget_bytes - size - kBytesPerCall,
                                 std::memory_order_relaxed);
    return true;
  }
  const uint64_t check_at_bytes =
      counters->check_at_bytes.load(std::memory_order_relaxed);
  const uint64_t allocated_bytes =
      __atomic_load_n(counters->allocated_bytes, __ATOMIC_RELAXED);
  return size < check_at_bytes && allocated_bytes < check_at_bytes - size;
}

// The look, after a call that handed `block` out; returns it, so that an entry
// point can end in this call.
void* CheckAllocation(void* block);

// To be called after a call that took memory back in a thread that is not
// registered. Frees of others need no call.
void CountFree();

inline bool ThreadIsRegistered() {
  return __builtin_expect(
      thread_counters.state == ThreadCounters::State::kRegistered, 1);
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
