#include "footprint/trainer_manager/training/evaluation.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"

namespace footprint {
namespace {

const ResolvedNetwork::ResolvedLayer& FindLoss(const ExecutionPlan& plan) {
  const auto& layers = plan.network->layers;
  return *std::find_if(layers.begin(), layers.end(),
                       [](const auto& layer) { return layer.is_loss(); });
}

}  // namespace

LabelCount CountLabels(absl::Span<const float> predictions,
                       absl::Span<const int32_t> labels,
                       absl::optional<float> ignored_label) {
  LabelCount count;
  if (labels.empty()) return count;
  const size_t classes = predictions.size() / labels.size();
  for (size_t i = 0; i < labels.size(); ++i) {
    if (ignored_label && labels[i] == static_cast<int32_t>(*ignored_label)) {
      continue;
    }
    const float* const row = predictions.data() + i * classes;
    const auto best = std::max_element(row, row + classes) - row;
    ++count.counted;
    if (best == labels[i]) ++count.right;
  }
  return count;
}

absl::StatusOr<Evaluation> Evaluation::Create(
    const Network& network, const MemoryOptions& options,
    const ManagerOptions& manager_options,
    std::shared_ptr<Parameters> parameters, const DataSet& data,
    const MathBackend& math) {
  MemoryOptions memory;
  memory.alignment_bytes = options.alignment_bytes;
  memory.keep_loss = true;
  memory.read_frozen_weights = options.read_frozen_weights;
  auto plan = PlanExecution(network, NetworkMode::kInference, memory,
                            /*optimizer_states=*/0, math);
  if (!plan.ok()) return plan.status();
  return Create(*std::move(plan), manager_options, std::move(parameters), data);
}

absl::StatusOr<Evaluation> Evaluation::Create(
    ExecutionPlan plan, const ManagerOptions& manager_options,
    std::shared_ptr<Parameters> parameters, const DataSet& data) {
  LoaderOptions in_order;
  in_order.shuffle = false;
  auto loader = BatchLoader::Create(plan, data, in_order);
  if (!loader.ok()) return loader.status();
  ManagerOptions of_inference;
  of_inference.retain_arena = true;
  of_inference.weights_file = manager_options.weights_file;
  of_inference.weights_map = manager_options.weights_map;
  auto manager = Manager::Create(plan, std::move(parameters), of_inference);
  if (!manager.ok()) return manager.status();
  return Evaluation(std::move(plan), *std::move(manager), *std::move(loader),
                    data);
}

Evaluation::Evaluation(ExecutionPlan plan, std::unique_ptr<Manager> manager,
                       BatchLoader loader, const DataSet& data)
    : plan_(std::move(plan)),
      manager_(std::move(manager)),
      loader_(std::move(loader)),
      data_(data) {
  const ResolvedNetwork::ResolvedLayer& loss = FindLoss(plan_);
  ignored_label_ = loss.signature.ignored_label;
  has_classes_ = plan_.tensors[plan_.label_tensors[0]].spec.type == DType::kI32;
  const std::vector<size_t>& outputs = plan_.network->outputs;
  prediction_ = static_cast<size_t>(
      std::find(outputs.begin(), outputs.end(), loss.inputs[0]) -
      outputs.begin());
  has_classes_ = has_classes_ && prediction_ < outputs.size();
}

absl::StatusOr<Metrics> Evaluation::Run() {
  loss_sum_ = 0;
  weight_sum_ = 0;
  labels_ = LabelCount();
  absl::Status status;
  for (int64_t batch = 0; batch < loader_.batches() && status.ok(); ++batch) {
    status = RunBatch(batch);
  }
  manager_->ReleaseArena();
  batch_.reset();
  if (!status.ok()) return status;
  Metrics metrics;
  metrics.loss = loss_sum_ / weight_sum_;
  if (has_classes_) {
    metrics.accuracy = static_cast<double>(labels_.right) /
                       static_cast<double>(labels_.counted);
  }
  return metrics;
}

absl::Status Evaluation::RunBatch(int64_t batch) {
  const int64_t planned = PlannedRows(plan_);
  const bool lends = data_.is_in_memory() && loader_.RowsOf(batch) == planned;
  if (!lends) {
    if (!batch_) batch_.emplace(plan_);
    const absl::Status status = loader_.FillParts(batch, batch_->parts());
    if (!status.ok()) return status;
  }
  std::vector<InputView> views;
  for (size_t i = 0; i <= plan_.input_tensors.size(); ++i) {
    views.push_back(lends ? data_.View(i, batch * planned, planned)
                          : batch_->View(i));
  }
  const InputView labels = views.back();
  views.pop_back();
  const absl::StatusOr<float> loss = manager_->Evaluate(views, labels);
  if (!loss.ok()) {
    return absl::Status(loss.status().code(),
                        absl::StrCat(loader_.DescribeRows(batch), ": ",
                                     loss.status().message()));
  }
  Count(labels, static_cast<double>(*loss));
  return absl::OkStatus();
}

// A batch is weighted by its labels, since the loss is a mean over them.
void Evaluation::Count(const InputView& labels, double loss) {
  const auto count = [&](const auto* values, auto ignored) {
    const auto end = values + labels.size();
    return static_cast<double>(
        static_cast<ptrdiff_t>(labels.size()) -
        (ignored_label_ ? std::count(values, end, ignored) : 0));
  };
  double weight = 0;
  if (labels.type() == DType::kI32) {
    const int32_t* values = static_cast<const int32_t*>(labels.data());
    weight = count(values, static_cast<int32_t>(ignored_label_.value_or(0)));
    const auto predictions = manager_->Output(prediction_);
    if (has_classes_ && predictions.ok()) {
      const LabelCount batch =
          CountLabels(*predictions, absl::MakeConstSpan(values, labels.size()),
                      ignored_label_);
      labels_.right += batch.right;
      labels_.counted += batch.counted;
    }
  } else {
    weight = count(static_cast<const float*>(labels.data()),
                   ignored_label_.value_or(0));
  }
  loss_sum_ += weight * loss;
  weight_sum_ += weight;
}

}  // namespace footprint
