// Functions that the entry points in allocation_entry_points.cc and
// mapping_entry_points.cc call around each call of the program.
//
//   if (MaySkipCheck(size)) return real_malloc(size);
//   return CheckAllocation(real_malloc(size));
//
// Everything here works before main, inside malloc and at a thread's end, so it
// allocates nothing. process_counters.h explains how the process's peak follows
// from the counters of threads, and thread_tree.h which threads can be alive at
// once.
//
// Thread-safety: any thread may call these functions. Blocks are owned by the
// program: only their sizes are kept.

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/thread_registration.h"

namespace footprint::profiling_internal {

// Counts calls of the calling thread that allocate.
inline void CountCalls(int64_t count) {
  std::atomic<int64_t>* const calls = &thread_counters.allocation_count;
  calls->store(calls->load(std::memory_order_relaxed) + count,
               std::memory_order_relaxed);
}

// An allocator may return up to a quarter, and 16 bytes, more than the
// requested size (jemalloc's size classes). So calls use up at most `headroom`
// if the bytes they request, plus kBytesPerCall for each call, are at most
// ComputeBudget(headroom).
inline constexpr uint64_t kBytesPerCall = 13;
inline uint64_t ComputeBudget(uint64_t headroom_bytes) {
  // 51/64 is just below four fifths and takes two instructions.
  return headroom_bytes * 51 / 64;
}

// Counts an allocation of `size` bytes. Entry points call it before the
// allocation. Returns whether CheckAllocation may be skipped afterwards.
inline bool MaySkipCheck(size_t size) {
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

// Computes how many bytes the thread may allocate before its next check, and
// grants them. Returns false, and grants nothing, if a peak or a sample may be
// due.
inline bool DelayNextLook(ThreadCounters* counters) {
  const uint64_t allocated_bytes = *counters->allocated_bytes;
  const int64_t live_bytes = counters->live_bytes();
  const int64_t peak_bytes = counters->peak_absolute_bytes.load();
  const int64_t threshold_bytes = counters->threshold_bytes.load();
  const int64_t top_bytes = std::min(peak_bytes, threshold_bytes);
  // The comparison is unsigned because sample_at_bytes may be UINT64_MAX.
  const uint64_t sample_at_bytes = counters->sample_at_bytes;
  if (live_bytes > top_bytes || allocated_bytes >= sample_at_bytes) {
    ForceLook(counters);
    return false;
  }
  const uint64_t budget_bytes =
      ComputeBudget(std::min(static_cast<uint64_t>(top_bytes - live_bytes),
                             sample_at_bytes - allocated_bytes - 1));
  if (has_one_thread.load()) {
    counters->budget_bytes.store(budget_bytes, std::memory_order_relaxed);
    // The fence orders the store before the load for the compiler; Membarrier
    // orders them for the processor.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (has_one_thread.load()) return true;
  } else {
    counters->check_at_bytes.store(allocated_bytes + budget_bytes -
                                   std::min(budget_bytes, kBytesPerCall));
    if (counters->threshold_bytes.load() == threshold_bytes &&
        counters->peak_absolute_bytes.load() == peak_bytes) {
      return true;
    }
  }
  ForceLook(counters);
  return false;
}

// Checks for a new peak or a sample after a call that allocated `block`.
// Returns `block`, so that an entry point can make this a tail call.
void* CheckAllocation(void* block);

// Returns whether CheckCountedAllocation must follow. It is for entry points
// that count by themselves, and so know the allocated bytes after each call.
// `allocated_bytes` is the total that the thread has allocated so far.
inline bool IsLookDue(uint64_t allocated_bytes) {
  return __builtin_expect(allocated_bytes > thread_counters.check_at_bytes.load(
                                                std::memory_order_relaxed),
                          0);
}

// Checks for a new peak or a sample, for the entry points that count by
// themselves.
void CheckCountedAllocation();

// Counts a free in a thread that is not registered, after the call that freed.
// Registered threads need no call.
void CountFree();

// Returns whether the calling thread is registered (thread_registration.h).
inline bool ThreadIsRegistered() {
  return __builtin_expect(
      thread_counters.state == ThreadCounters::State::kRegistered, 1);
}

// Wraps a call that may move a block:
//   Reallocation call;
//   void* moved = ...realloc(block, size);
//   call.After(/*in_place=*/moved == block, /*succeeded=*/moved != nullptr);
class Reallocation {
 public:
  Reallocation();
  // Counts the call, and checks for a new peak.
  void After(bool in_place, bool succeeded);

  // Bytes that the call freed. A realloc in place frees the old block's usable
  // bytes.
  int64_t taken_back_bytes() const {
    return static_cast<int64_t>(*thread_counters.deallocated_bytes -
                                deallocated_bytes_before_);
  }

 private:
  uint64_t allocated_bytes_before_;
  uint64_t deallocated_bytes_before_;
};

// Counts bytes that the program mapped (positive) or unmapped (negative) by
// itself. The calling thread should be registered.
void CountMappedBytes(int64_t change_bytes);

// Sets the counter of requested bytes, which must live as long as the process.
void SetRequestedBytesCounter(const RequestedBytesCounter* counter);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_COUNTERS_H_
