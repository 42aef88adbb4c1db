// Records the call sites of allocations around the calls of an allocator. The
// allocator's entry points have counted the calls before.
//
//   RecordSample<SizeOfBlock>(block);          // before the counters check
//   ForgetRecordedBlock<SizeOfBlock>(block);   // before the block is freed
//
//   RecordedReallocation<SizeOfBlock> recorded(block);
//   void* const moved = next_realloc(block, size);
//   recorded.After(moved, /*null_frees=*/size == 0, moved == block, old_bytes);
//   // ... the counters check for a peak ...
//   recorded.AfterLook();
//
// `SizeOf` returns the usable bytes of a live block. Thread-safe, works inside
// malloc, and allocates nothing. The blocks' owners keep them.

#ifndef FOOTPRINT_PROFILING_SITES_RECORDED_CALLS_H_
#define FOOTPRINT_PROFILING_SITES_RECORDED_CALLS_H_

#include <algorithm>
#include <cstdint>

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/sample_schedule.h"
#include "footprint/profiling/heap/thread_registration.h"
#include "footprint/profiling/sites/call_sites.h"

namespace footprint::profiling_internal {

using SizeOfBlock = int64_t (*)(const void* block);

// Records the block if it is a sample. Call it before the counters check for a
// new peak, so that a peak includes its last block.
template <SizeOfBlock SizeOf>
void RecordSample(void* block) {
  ThreadCounters* const counters = &thread_counters;
  // A thread's first allocation may also be a sample. RegisterThread is not
  // called here, because it would check for a peak.
  if (counters->state == ThreadCounters::State::kNew &&
      FindAllocatorsCounters()) {
    ScheduleFirstSample(counters);
  }
  if (!IsSample(*counters)) return;
  RecordAllocation(block, SizeOf(block));
  ScheduleNextSample(counters);
  if (IsTimeToRecord()) RecordTime(LiveHeapBytes());
}

// Records that a block is freed. Call it before the block is freed and another
// block may get its address.
template <SizeOfBlock SizeOf>
inline void ForgetRecordedBlock(void* block) {
  if (MayBeRecorded(block)) {
    RecordFree(block);
  } else if (__builtin_expect(every_allocation_is_recorded, 0)) {
    RecordFreeOfOlder(block == nullptr ? 0 : SizeOf(block));
  }
}

// Wraps a call that may move a block. The new block may be a sample, and the
// old one counts until the counters have checked for a peak with both.
template <SizeOfBlock SizeOf>
class RecordedReallocation {
 public:
  explicit RecordedReallocation(void* block)
      : is_recorded_(MayBeRecorded(block) && DetachRecorded(block, &old_)) {
    if (!is_recorded_ && every_allocation_is_recorded && block != nullptr) {
      old_.size_bytes = SizeOf(block);
    }
    old_.address = reinterpret_cast<uintptr_t>(block);
  }

  // Call it before the counters check for a new peak, so that the peak includes
  // the new block. `taken_back_bytes` are the old block's bytes, if the call
  // did not copy it.
  void After(void* moved, bool null_frees, bool in_place,
             int64_t taken_back_bytes) {
    if (moved == nullptr && !null_frees) {
      if (is_recorded_) AttachAgain(old_);
      return;
    }
    // Both blocks were live for a moment, unless the block stayed in place.
    if (in_place) Forget();
    ThreadCounters* const counters = &thread_counters;
    if (moved != nullptr && IsSample(*counters)) {
      const int64_t size_bytes = SizeOf(moved);
      RecordAllocation(moved, size_bytes,
                       in_place ? std::min(size_bytes, taken_back_bytes) : 0);
      ScheduleNextSample(counters);
    }
    old_is_left_ = !in_place;
  }

  // Call it after the counters' check: a peak that they found includes both
  // blocks.
  void AfterLook() {
    if (old_is_left_) Forget();
  }

  // Call it if the call left the old block in place with its old size.
  void Leave() {
    if (is_recorded_) AttachAgain(old_);
  }

  // Call it if other code recorded the new block and checked for a peak, and
  // the old block is gone.
  void ForgetOld() { Forget(); }

 private:
  void Forget() {
    if (is_recorded_) {
      ForgetDetached(old_);
    } else if (every_allocation_is_recorded) {
      RecordFreeOfOlder(old_.size_bytes);
    }
  }

  RecordedBlock old_;
  const bool is_recorded_;
  bool old_is_left_ = false;
};

}  // namespace footprint::profiling_internal

// Tested by call_sites_test.

#endif  // FOOTPRINT_PROFILING_SITES_RECORDED_CALLS_H_
