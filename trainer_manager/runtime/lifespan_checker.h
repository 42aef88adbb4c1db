// Debugs a running plan: poisons dead bytes, and compares what steps read with
// what was written.
//
//   footprint::LifespanChecker watch(plan);
//   watch.Begin(arena, size_bytes);
//   status = watch.CheckRead(first_use, slots);         // before a step
//   status = watch.CheckOthers(first_use, slots, arena);  // after it
//   watch.MarkWritten(first_use, slots);
//   watch.PoisonAfter(step, arena);
//
// If a tensor is used outside its lifespan, the step that uses it fails. A step
// that changes a live tensor which it does not write fails, too. Values that
// are not floats have no NaN to be poisoned with, so each tensor also has a
// fingerprint. Uses are numbered over all steps. Keeps nothing of the plan,
// which may end first. Thread-compatible. Memory: 8 bytes a use, 16 a tensor,
// and 40 a storage in the arena. Time: that of reading each operand and, in
// each step, all live bytes of the arena once more.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_LIFESPAN_CHECKER_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_LIFESPAN_CHECKER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Returns OutOfRange if an operand that the step reads (or, if `written`,
// writes) holds a NaN or infinity; the message names it. Workspaces and slices
// are not checked as results.
absl::Status CheckFinite(absl::Span<const StepData::Slot> slots, bool written);

class LifespanChecker {
 public:
  explicit LifespanChecker(const ExecutionPlan& plan);

  // Poisons the arena, before an iteration.
  void Begin(char* arena, int64_t size_bytes);
  // Returns Internal if an operand in the arena does not hold the bytes that
  // were written.
  absl::Status CheckRead(size_t first_use,
                         absl::Span<const StepData::Slot> slots) const;
  // Returns Internal if a live tensor of the arena that the step does not write
  // no longer holds its bytes. Call this before MarkWritten.
  absl::Status CheckOthers(size_t first_use,
                           absl::Span<const StepData::Slot> slots,
                           const char* arena) const;
  void MarkWritten(size_t first_use, absl::Span<const StepData::Slot> slots);
  // Poisons the bytes that are dead after the step; does nothing after the last
  // step.
  void PoisonAfter(size_t step, char* arena);

 private:
  // Bytes of the arena that are free from a step on. The first `held_bytes`
  // are what a step wrote last; there are none before, and when they are free.
  struct Region {
    int64_t upper_step;
    int64_t offset_bytes;
    int64_t size_bytes;
    int64_t held_bytes;
    uint64_t mark;  // their fingerprint
  };

  bool IsInArena(size_t tensor) const {
    return region_of_[tensor] < regions_.size();
  }
  // Returns whether the step writes a tensor of the region.
  bool Writes(size_t first_use, absl::Span<const StepData::Slot> slots,
              size_t region) const;

  size_t steps_;
  std::vector<Region> regions_;
  std::vector<size_t> tensors_;  // of each use
  // The region of each tensor; outside of the arena an index beyond them.
  std::vector<size_t> region_of_;
  std::vector<uint64_t> marks_;  // fingerprint of each tensor as written
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_LIFESPAN_CHECKER_H_
