// Debugs a running plan: poisons dead bytes, and compares what steps read with
// what was written.
//
//   footprint::LifespanChecker watch(plan);
//   watch.Begin(arena, size_bytes);
//   status = watch.CheckRead(first_use, slots);  // before a step
//   watch.MarkWritten(first_use, slots);         // after it
//   watch.PoisonAfter(step, arena);
//
// If a tensor is used outside its lifespan, the step that uses it fails. Values
// that are not floats have no NaN to be poisoned with, so each tensor also has
// a fingerprint. Uses are numbered over all steps. Keeps nothing of the plan,
// which may end first. Thread-compatible. Memory: 8 bytes a use, 8 and a bit a
// tensor, and 24 a storage in the arena. Time: that of reading each operand
// once more.

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
  void Begin(char* arena, int64_t size_bytes) const;
  // Returns Internal if an operand in the arena does not hold the bytes that
  // were written.
  absl::Status CheckRead(size_t first_use,
                         absl::Span<const StepData::Slot> slots) const;
  void MarkWritten(size_t first_use, absl::Span<const StepData::Slot> slots);
  // Poisons the bytes that are dead after the step; does nothing after the last
  // step.
  void PoisonAfter(size_t step, char* arena) const;

 private:
  // Bytes of the arena that are free from a step on.
  struct Region {
    int64_t upper_step;
    int64_t offset_bytes;
    int64_t size_bytes;
  };

  size_t steps_;
  std::vector<Region> regions_;
  std::vector<size_t> tensors_;  // of each use
  std::vector<bool> in_arena_;   // by tensor
  std::vector<uint64_t> marks_;  // fingerprint of each tensor as written
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_LIFESPAN_CHECKER_H_
