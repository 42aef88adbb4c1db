// Debugging of a plan while it runs: dead bytes are poisoned, and what is read
// is compared with what was written.
//
//   footprint::LifespanChecker watch(plan);
//   watch.Begin(arena, size_bytes);
//   status = watch.CheckRead(first_use, slots);  // before a step
//   watch.MarkWritten(first_use, slots);         // after it
//   watch.PoisonAfter(step, arena);
//
// A tensor that is used outside its lifespan fails in the step that uses it;
// values of less than a float have no NaN to be poisoned with, so each tensor
// has a fingerprint. A use is counted over all steps. Keeps nothing of the
// plan, which may end before it. Thread-compatible. Memory: about 16 bytes a
// use and 24 a tensor. Time: that of reading each operand once more.

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

// OutOfRange: an operand that a step read, or else wrote, holds a NaN or
// infinity; the text names it. Scratch memory may hold what it likes.
absl::Status CheckFinite(absl::Span<const StepData::Slot> slots, bool written);

class LifespanChecker {
 public:
  explicit LifespanChecker(const ExecutionPlan& plan);

  // Poisons the arena, before an iteration.
  void Begin(char* arena, int64_t size_bytes) const;
  // Internal: an operand in the arena is not what was written.
  absl::Status CheckRead(size_t first_use,
                         absl::Span<const StepData::Slot> slots) const;
  void MarkWritten(size_t first_use, absl::Span<const StepData::Slot> slots);
  // Poisons what is dead once the step is done; after the last, nothing.
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
  std::vector<uint64_t> marks_;  // of each tensor, what was written
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_LIFESPAN_CHECKER_H_
