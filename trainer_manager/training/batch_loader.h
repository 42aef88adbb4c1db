// Fills batches with the rows of a data set, in an order that follows from a
// seed.
//
//   auto loader = footprint::BatchLoader::Create(plan, data, {/*seed=*/7});
//   for (int64_t step = 0; step < epochs * loader->batches(); ++step) {
//     status = loader->Fill(step, manager.get());
//     loss = manager->TrainStep();
//   }
//
// Rows are written straight into the manager's batch, without a second copy.
// The order of an epoch is a function of the seed and the epoch's number, so
// the position in the data follows from the number of steps, and a resumed
// training needs nothing else.
//
// The last batch of an epoch may have fewer rows. Its free places get the
// loss's ignored label and the inputs of the batch's first row, so the loss and
// the gradients are those of a batch that is planned for these rows alone. With
// micro-batches the rows are spread over them, and each micro-batch is weighted
// by the number of its labels that are not ignored.
//
// Keeps a copy of the DataSet, which refers to the caller's memory.
// Thread-compatible. Memory: 8 bytes a row if rows are shuffled.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_LOADER_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_LOADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/training/data_set.h"

namespace footprint {

struct LoaderOptions {
  uint64_t seed = 0;
  bool shuffle = true;
  // Leaves out the last rows of an epoch if they do not fill a batch.
  bool drop_last = false;
};

class BatchLoader {
 public:
  // Returns InvalidArgument if the plan has no input or no loss, if
  // DataSet::CheckFits refuses the data set, or if drop_last leaves no batch.
  // Returns InvalidArgument also for a last batch with fewer rows than planned
  // if the loss ignores no label, if a layer of a training depends on the whole
  // batch (depends_on_batch), or if there are fewer rows than micro-batches.
  static absl::StatusOr<BatchLoader> Create(const ExecutionPlan& plan,
                                            const DataSet& data,
                                            const LoaderOptions& options = {});

  // These return the number of batches in an epoch, and the number of rows in a
  // batch; batches count from 0.
  int64_t batches() const;
  int64_t RowsOf(int64_t batch) const;

  // Describes the rows in a step's batch, in their order, for an error: "rows
  // 3, 1 of the data set".
  std::string DescribeRows(int64_t step);

  // Fills the batch of step `step`, which counts from 0 and over all epochs.
  // `manager` must be one of the plan. Errors: those of DataSet::Read, and of
  // Manager::InputValues and LabelValues.
  absl::Status Fill(int64_t step, Manager* manager);
  // Fills the caller's buffers instead: a part of a whole batch for each of the
  // plan's inputs, then the label. Errors: those of DataSet::Read.
  absl::Status FillParts(int64_t step, absl::Span<const DataSet::Part> parts);

 private:
  BatchLoader(const ExecutionPlan& plan, const DataSet& data,
              const LoaderOptions& options);
  absl::Status CheckShortBatch(const ExecutionPlan& plan) const;
  void OrderEpoch(int64_t epoch);
  int64_t RowAt(int64_t place) const;
  void Ignore(const DataSet::Part& label) const;

  DataSet data_;
  LoaderOptions options_;
  int64_t planned_rows_;
  int64_t micro_batches_;
  absl::optional<float> ignored_label_;
  std::vector<DType> input_types_;
  DType label_type_;
  int64_t epoch_ = -1;          // whose order `order_` is
  std::vector<int64_t> order_;  // of the rows; empty: not shuffled
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_BATCH_LOADER_H_
