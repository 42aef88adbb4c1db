// Computes the loss and the accuracy of a network on a data set.
//
//   auto evaluation =
//       footprint::Evaluation::Create(network, {}, {}, parameters, held_out);
//   absl::StatusOr<footprint::Metrics> metrics = evaluation->Run();
//
// A batch of a data set in memory is used in place, not copied, unless it is a
// short last batch. Between two runs only the memory of the outputs and of the
// plan is held.
//
// Shares the parameters; refers to the data set's memory and to the kernels,
// which compute on the threads that they have. Thread-compatible;
// the parameters must not be trained during a run. Memory: that of the outputs
// and the plan, and in a run the arena of an inference, and a batch if it
// cannot be used in place.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_EVALUATION_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/input_view.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/training/batch_copy.h"
#include "footprint/trainer_manager/training/batch_loader.h"
#include "footprint/trainer_manager/training/data_set.h"

namespace footprint {

struct Metrics {
  double loss = 0;  // the mean over all labels that are not ignored
  // The share of labels that equal the predicted class, the one with the
  // largest prediction; not set if labels are not classes, or if the prediction
  // is not an output of the network (ResolvedNetwork::outputs).
  absl::optional<double> accuracy;
};

// Counts the correct predictions among the labels that are not ignored.
// Predictions have a row of classes for each label; the first of equal
// predictions is chosen.
struct LabelCount {
  int64_t right = 0;
  int64_t counted = 0;
};
LabelCount CountLabels(absl::Span<const float> predictions,
                       absl::Span<const int32_t> labels,
                       absl::optional<float> ignored_label);

class Evaluation {
 public:
  // Returns InvalidArgument if the network has no loss, or if
  // BatchLoader::Create refuses the data set. Other errors are those of
  // PlanExecution and Manager::Create. The batch size is the network's. Of the
  // options, only the alignment and where frozen weights are is used.
  static absl::StatusOr<Evaluation> Create(
      const Network& network, const MemoryOptions& options,
      const ManagerOptions& manager, std::shared_ptr<Parameters> parameters,
      const DataSet& data, const MathBackend& math = HighwayBackend());

  // Does the same with a plan of an inference, whose MemoryOptions::keep_loss
  // must be set.
  static absl::StatusOr<Evaluation> Create(
      ExecutionPlan plan, const ManagerOptions& manager,
      std::shared_ptr<Parameters> parameters, const DataSet& data);

  // Computes the metrics on the whole data set. Errors: those of
  // Manager::Evaluate, such as OutOfRange if all labels of a batch are ignored,
  // and of DataSet::Read.
  absl::StatusOr<Metrics> Run();

 private:
  Evaluation(ExecutionPlan plan, std::unique_ptr<Manager> manager,
             BatchLoader loader, const DataSet& data);
  absl::Status RunBatch(int64_t batch);
  void Count(const InputView& labels, double loss);

  ExecutionPlan plan_;
  std::unique_ptr<Manager> manager_;
  BatchLoader loader_;
  DataSet data_;
  absl::optional<float> ignored_label_;
  size_t prediction_ = 0;  // the output that the loss reads
  bool has_classes_ = false;
  absl::optional<BatchCopy> batch_;  // of a run that cannot lend the data
  // The sums of a run.
  double loss_sum_ = 0;
  double weight_sum_ = 0;
  LabelCount labels_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_EVALUATION_H_
