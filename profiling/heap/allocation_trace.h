// Allocation traces whose true peak is known. One thread does each step while
// all others wait, and the runner adds up what is live after it.
//
//   AllocationTrace trace =
//       RandomTrace(/*seed=*/1, /*threads=*/4, /*steps=*/500);
//   TraceRunner runner(trace);      // starts the threads
//   HeapPhase phase = BeginHeapPhase();
//   TruePeak truth = runner.Run();  // threads and sums allocate nothing
//   HeapPhaseBytes bytes = EndHeapPhase(phase);
//   // bytes.peak_live_net_bytes == truth.peak_usable_bytes
//
// This is for tests. The runner's destructor frees the blocks that a trace
// leaves live. The process aborts if an allocation fails or no thread can be
// created.

#ifndef FOOTPRINT_PROFILING_HEAP_ALLOCATION_TRACE_H_
#define FOOTPRINT_PROFILING_HEAP_ALLOCATION_TRACE_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "footprint/base/threads/mutex.h"

namespace footprint {

enum class TraceCall {
  kMalloc,
  kCalloc,
  kAlignedAlloc,
  kPosixMemalign,
  kMemalign,
  kValloc,
  kPvalloc,
  kNew,
  kNewArray,
  kNewNothrow,
  kNewAligned,
  kMallocx,
  // This and the next three allocate if the slot is empty.
  kRealloc,
  kReallocArray,
  kRallocx,
  kXallocx,
  kFree,  // Uses the deallocation function that matches the allocation.
  kEndThread,
};
inline constexpr int kAllocatingCallCount = static_cast<int>(TraceCall::kFree);

struct TraceStep {
  int thread = 0;
  TraceCall call = TraceCall::kMalloc;
  int slot = 0;
  size_t size_bytes = 0;
};

struct AllocationTrace {
  int thread_count = 1;
  int slot_count = 1;
  std::vector<TraceStep> steps;
};

// Returns a trace of random steps. Any thread may free what another allocated.
// With more than one thread, some threads end during the trace, and others free
// the blocks they leave.
AllocationTrace RandomTrace(uint32_t seed, int thread_count, int step_count);

struct TruePeak {
  int64_t peak_usable_bytes = 0;
  int64_t peak_requested_bytes = 0;
  int64_t sum_thread_peak_usable_bytes = 0;
  int64_t allocated_usable_bytes = 0;
  int64_t allocation_count = 0;
  int64_t net_growth_usable_bytes = 0;
};

class TraceRunner {
 public:
  explicit TraceRunner(AllocationTrace trace);
  ~TraceRunner();
  TraceRunner(const TraceRunner&) = delete;
  TraceRunner& operator=(const TraceRunner&) = delete;

  // Runs the trace. Call it exactly once: without it, the destructor waits for
  // ever. It allocates nothing besides the trace's blocks.
  TruePeak Run();

 private:
  struct Block {
    void* address = nullptr;
    size_t requested_bytes = 0;
    TraceCall call = TraceCall::kMalloc;
  };
  struct Worker {
    TraceRunner* runner = nullptr;
    int number = 0;
    pthread_t thread = {};
    bool ended = false;
    int64_t live_bytes = 0;
    int64_t peak_bytes = 0;
  };

  static void* RunWorker(void* worker);
  void DoSteps(Worker* worker);
  void DoStep(Worker* worker, const TraceStep& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Allocate(Worker* worker, const TraceStep& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Reallocate(Worker* worker, const TraceStep& step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Free(Worker* worker, Block* block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(Worker* worker, int64_t usable_change, int64_t requested_change,
             int64_t transient_usable, int64_t transient_requested)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  AllocationTrace trace_;
  std::vector<Block> blocks_;
  std::vector<Worker> workers_;
  Mutex mutex_;
  CondVar changed_;
  // Index of the step to do next; -1 until Run.
  int64_t next_step_ ABSL_GUARDED_BY(mutex_) = -1;
  int64_t live_usable_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t live_requested_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  TruePeak truth_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_HEAP_ALLOCATION_TRACE_H_
