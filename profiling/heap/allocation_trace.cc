#include "footprint/profiling/heap/allocation_trace.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <random>
#include <utility>

// jemalloc's own interface, declared here since its header would bring in the
// library that exact_heap stands in front of.
extern "C" {
void* mallocx(size_t size, int flags) noexcept;
void* rallocx(void* block, size_t size, int flags) noexcept;
size_t xallocx(void* block, size_t size, size_t extra, int flags) noexcept;
void dallocx(void* block, int flags) noexcept;
void sdallocx(void* block, size_t size, int flags) noexcept;
}

namespace footprint {
namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr size_t kAlignment = 256;
constexpr int kAlignmentFlag = 8;  // The binary logarithm of kAlignment.

size_t RandomSize(std::mt19937* random) {
  switch ((*random)() % 4) {
    case 0:
      return (*random)() % 64;
    case 1:
      return (*random)() % 2048;
    case 2:
      return (*random)() % 40000;
    default:
      return (*random)() % 400000;
  }
}

size_t AlignedUp(size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

void* Call(TraceCall call, size_t size) {
  void* block = nullptr;
  switch (call) {
    case TraceCall::kMalloc:
      return malloc(size);
    case TraceCall::kCalloc:
      return calloc(size / 8 + 1, 8);
    case TraceCall::kAlignedAlloc:
      return aligned_alloc(kAlignment, AlignedUp(size));
    case TraceCall::kPosixMemalign:
      return posix_memalign(&block, kAlignment, size) == 0 ? block : nullptr;
    case TraceCall::kMemalign:
      return memalign(kAlignment, size);
    case TraceCall::kValloc:
      return valloc(size);
    case TraceCall::kPvalloc:
      return pvalloc(size);
    case TraceCall::kNew:
      return ::operator new(size);
    case TraceCall::kNewArray:
      return ::operator new[](size);
    case TraceCall::kNewNothrow:
      return ::operator new(size, std::nothrow);
    case TraceCall::kNewAligned:
      return ::operator new(size, std::align_val_t(kAlignment));
    case TraceCall::kMallocx:
      return mallocx(size + 1, kAlignmentFlag);
    default:
      return nullptr;
  }
}

// Returns the bytes that the call requests, by its manual page.
size_t RequestedBytes(TraceCall call, size_t size) {
  switch (call) {
    case TraceCall::kCalloc:
      return (size / 8 + 1) * 8;
    case TraceCall::kAlignedAlloc:
      return AlignedUp(size);
    case TraceCall::kPvalloc:
      return std::max<size_t>(4096, (size + 4095) / 4096 * 4096);
    case TraceCall::kMallocx:
      return size + 1;
    default:
      return size;
  }
}

void FreeAs(TraceCall call, void* block, size_t requested) {
  switch (call) {
    case TraceCall::kNew:
      return ::operator delete(block, requested);
    case TraceCall::kNewArray:
      return ::operator delete[](block);
    case TraceCall::kNewNothrow:
      return ::operator delete(block, std::nothrow);
    case TraceCall::kNewAligned:
      return ::operator delete(block, std::align_val_t(kAlignment));
    case TraceCall::kMallocx:
      return sdallocx(block, requested, kAlignmentFlag);
    case TraceCall::kRallocx:
      return dallocx(block, 0);
    default:
      return free(block);
  }
}

int64_t UsableBytes(void* block) {
  return block == nullptr ? 0 : static_cast<int64_t>(malloc_usable_size(block));
}

}  // namespace

AllocationTrace RandomTrace(uint32_t seed, int thread_count, int step_count) {
  std::mt19937 random(seed);
  AllocationTrace trace;
  trace.thread_count = thread_count;
  trace.slot_count = 40;
  std::vector<int> alive;
  for (int i = 0; i < thread_count; ++i) alive.push_back(i);
  for (int i = 0; i < step_count; ++i) {
    TraceStep step;
    const size_t index = random() % alive.size();
    step.thread = alive[index];
    step.slot = static_cast<int>(random() % 40);
    step.size_bytes = RandomSize(&random);
    step.call = static_cast<TraceCall>(random() % (kAllocatingCallCount + 4));
    if (step.call > TraceCall::kFree) step.call = TraceCall::kFree;
    if (alive.size() > 1 && random() % 100 == 0) {
      step.call = TraceCall::kEndThread;
      alive.erase(alive.begin() + static_cast<int64_t>(index));
    }
    trace.steps.push_back(step);
  }
  return trace;
}

TraceRunner::TraceRunner(AllocationTrace trace) : trace_(std::move(trace)) {
  blocks_.resize(static_cast<size_t>(trace_.slot_count));
  workers_.resize(static_cast<size_t>(trace_.thread_count));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Stacks are small because the C library keeps at most 40 MiB of stacks of
  // ended threads. Beyond that it frees a stack, and with it blocks of its own,
  // which are in no trace.
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (int i = 0; i < trace_.thread_count; ++i) {
    Worker& worker = workers_[static_cast<size_t>(i)];
    worker.runner = this;
    worker.number = i;
    if (pthread_create(&worker.thread, &attributes, RunWorker, &worker) != 0) {
      abort();
    }
  }
  pthread_attr_destroy(&attributes);
}

TraceRunner::~TraceRunner() {
  for (Block& block : blocks_) {
    if (block.address != nullptr) {
      FreeAs(block.call, block.address, block.requested_bytes);
    }
  }
  for (Worker& worker : workers_) {
    if (!worker.ended) pthread_join(worker.thread, nullptr);
  }
}

TruePeak TraceRunner::Run() {
  MutexLock lock(&mutex_);
  next_step_ = 0;
  changed_.NotifyAll();
  const int64_t step_count = static_cast<int64_t>(trace_.steps.size());
  while (next_step_ < step_count) {
    const TraceStep& step = trace_.steps[static_cast<size_t>(next_step_)];
    Worker& worker = workers_[static_cast<size_t>(step.thread)];
    if (step.call == TraceCall::kEndThread && !worker.ended) {
      worker.ended = true;
      {
        MutexUnlock unlock(&mutex_);
        pthread_join(worker.thread, nullptr);
      }
      FinishStep();
    }
    if (next_step_ < step_count) changed_.Wait(&mutex_);
  }
  truth_.net_growth_usable_bytes = live_usable_bytes_;
  for (const Worker& worker : workers_) {
    truth_.sum_thread_peak_usable_bytes += worker.peak_bytes;
  }
  return truth_;
}

void* TraceRunner::RunWorker(void* worker) {
  Worker* self = static_cast<Worker*>(worker);
  self->runner->DoSteps(self);
  return nullptr;
}

void TraceRunner::DoSteps(Worker* worker) {
  MutexLock lock(&mutex_);
  const int64_t step_count = static_cast<int64_t>(trace_.steps.size());
  while (next_step_ < step_count) {
    if (next_step_ >= 0) {
      const TraceStep& step = trace_.steps[static_cast<size_t>(next_step_)];
      if (step.thread == worker->number) {
        if (step.call == TraceCall::kEndThread) {
          changed_.NotifyAll();
          break;
        }
        DoStep(worker, step);
        FinishStep();
        continue;
      }
    }
    changed_.Wait(&mutex_);
  }
}

void TraceRunner::FinishStep() {
  ++next_step_;
  changed_.NotifyAll();
}

void TraceRunner::DoStep(Worker* worker, const TraceStep& step) {
  Block* block = &blocks_[static_cast<size_t>(step.slot)];
  switch (step.call) {
    case TraceCall::kRealloc:
    case TraceCall::kReallocArray:
    case TraceCall::kRallocx:
    case TraceCall::kXallocx:
      return Reallocate(worker, step);
    case TraceCall::kFree:
      return Free(worker, block);
    default:
      Free(worker, block);
      return Allocate(worker, step);
  }
}

void TraceRunner::Allocate(Worker* worker, const TraceStep& step) {
  Block* block = &blocks_[static_cast<size_t>(step.slot)];
  block->call = step.call;
  block->requested_bytes = RequestedBytes(step.call, step.size_bytes);
  block->address = Call(step.call, step.size_bytes);
  if (block->address == nullptr) abort();
  const int64_t usable = UsableBytes(block->address);
  truth_.allocated_usable_bytes += usable;
  ++truth_.allocation_count;
  Count(worker, usable, static_cast<int64_t>(block->requested_bytes), 0, 0);
}

void TraceRunner::Reallocate(Worker* worker, const TraceStep& step) {
  Block* block = &blocks_[static_cast<size_t>(step.slot)];
  const size_t size = step.size_bytes + 1;
  void* const old_address = block->address;
  const int64_t old_usable = UsableBytes(old_address);
  const int64_t old_requested = static_cast<int64_t>(block->requested_bytes);
  if (old_address == nullptr || step.call == TraceCall::kRealloc) {
    block->address = realloc(old_address, size);
  } else if (step.call == TraceCall::kReallocArray) {
    block->address = reallocarray(old_address, 1, size);
  } else if (step.call == TraceCall::kRallocx) {
    block->address = rallocx(old_address, size, 0);
  } else {
    xallocx(old_address, size, 0, 0);
  }
  if (block->address == nullptr) abort();
  block->requested_bytes = size;
  block->call = TraceCall::kMalloc;
  const int64_t usable = UsableBytes(block->address);
  const bool moved = block->address != old_address;
  truth_.allocated_usable_bytes +=
      moved ? usable : std::max<int64_t>(0, usable - old_usable);
  ++truth_.allocation_count;
  Count(worker, usable - old_usable, static_cast<int64_t>(size) - old_requested,
        moved ? old_usable : 0, moved ? old_requested : 0);
}

void TraceRunner::Free(Worker* worker, Block* block) {
  if (block->address == nullptr) return;
  const int64_t usable = UsableBytes(block->address);
  FreeAs(block->call, block->address, block->requested_bytes);
  Count(worker, -usable, -static_cast<int64_t>(block->requested_bytes), 0, 0);
  *block = Block();
}

void TraceRunner::Count(Worker* worker, int64_t usable_change,
                        int64_t requested_change, int64_t transient_usable,
                        int64_t transient_requested) {
  live_usable_bytes_ += usable_change;
  live_requested_bytes_ += requested_change;
  worker->live_bytes += usable_change;
  truth_.peak_usable_bytes =
      std::max(truth_.peak_usable_bytes, live_usable_bytes_ + transient_usable);
  truth_.peak_requested_bytes = std::max(
      truth_.peak_requested_bytes, live_requested_bytes_ + transient_requested);
  worker->peak_bytes =
      std::max(worker->peak_bytes, worker->live_bytes + transient_usable);
}

}  // namespace footprint
