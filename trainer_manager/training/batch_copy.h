// Memory for the values of one batch of a plan, outside of the plan's own.
//
//   footprint::BatchCopy batch(plan);
//   absl::Status status = loader.FillParts(step, batch.parts());
//   const footprint::InputView labels = batch.View(batch.size() - 1);
//
// The parts are the plan's inputs, then its label, with all micro-batches one
// after the other. The plan must have an input and a loss, and is not kept.
// Movable; parts and views stay valid. Thread-compatible. Memory: 4 bytes a
// value.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_COPY_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_COPY_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/input_view.h"
#include "footprint/trainer_manager/training/data_set.h"

namespace footprint {

class BatchCopy {
 public:
  explicit BatchCopy(const ExecutionPlan& plan);

  size_t size() const { return parts_.size(); }
  absl::Span<const DataSet::Part> parts() const { return parts_; }
  InputView View(size_t part) const;

 private:
  std::vector<std::vector<float>> values_;  // or int32, which are as large
  std::vector<DataSet::Part> parts_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_COPY_H_
