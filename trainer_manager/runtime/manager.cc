#include "footprint/trainer_manager/runtime/manager.h"

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/runtime/tensor_inspection.h"

namespace footprint {
namespace {

// The text between a weight's name and the number of a state in the plan's
// names.
constexpr absl::string_view kStateWords = " state ";

}  // namespace

absl::StatusOr<std::unique_ptr<Manager>> Manager::Create(
    const ExecutionPlan& plan, std::shared_ptr<Parameters> parameters,
    const ManagerOptions& options) {
  absl::Status status = CheckUnedited(plan);
  if (status.ok()) status = CheckManagerOptions(plan, options);
  if (!status.ok()) return status;
  if (parameters == nullptr) {
    return absl::InvalidArgumentError("a manager needs parameters");
  }
  absl::StatusOr<StepTable> table = StepTable::Create(plan, *parameters);
  if (!table.ok()) return table.status();
  auto optimizers = GroupOptimizers::Create(*plan.network, options.optimizer);
  if (!optimizers.ok()) return optimizers.status();
  std::unique_ptr<Manager> manager(new Manager(plan, *std::move(table),
                                               std::move(parameters), options,
                                               *std::move(optimizers)));
  status = manager->runner_.OpenSwapFile(plan, options.swap_folder);
  if (status.ok()) {
    status = manager->runner_.OpenWeights(plan, options.weights_file,
                                          options.weights_map);
  }
  if (!status.ok()) return status;
  return manager;
}

Manager::Manager(const ExecutionPlan& plan, StepTable table,
                 std::shared_ptr<Parameters> parameters,
                 const ManagerOptions& options, GroupOptimizers optimizers)
    : parameters_(std::move(parameters)),
      mode_(plan.mode),
      optimizer_states_(plan.optimizer_states),
      retain_arena_(options.retain_arena),
      plan_fingerprint_(plan.fingerprint),
      runner_(plan, std::move(table), options, std::move(optimizers),
              &buffers_),
      buffers_(plan, runner_.table(), options.watch_inputs) {}

absl::Status Manager::CheckMode(NetworkMode mode) const {
  if (mode_ == mode) return absl::OkStatus();
  return absl::FailedPreconditionError(
      mode == NetworkMode::kTraining
          ? "the plan is one for inference: call Infer, or plan with "
            "NetworkMode::kTraining"
          : "the plan is one for training: call TrainStep, or plan with "
            "NetworkMode::kInference");
}

absl::Status Manager::Set(BatchPart part, size_t index, InputView values) {
  const absl::Status status = CheckMode(NetworkMode::kTraining);
  return status.ok() ? buffers_.Set(part, index, values) : status;
}

absl::Status Manager::SetInput(size_t index, absl::Span<const float> values) {
  return Set(BatchPart::kInput, index, values);
}
absl::Status Manager::SetInput(size_t index, absl::Span<const int32_t> values) {
  return Set(BatchPart::kInput, index, values);
}
absl::Status Manager::SetLabel(absl::Span<const float> values) {
  return Set(BatchPart::kLabel, 0, values);
}
absl::Status Manager::SetLabel(absl::Span<const int32_t> values) {
  return Set(BatchPart::kLabel, 0, values);
}

template <typename Value>
absl::StatusOr<absl::Span<Value>> Manager::ValuesToFill(BatchPart part,
                                                        size_t index) {
  const absl::Status status = CheckMode(NetworkMode::kTraining);
  if (!status.ok()) return status;
  return buffers_.ValuesToFill<Value>(part, index);
}

template <typename Value>
absl::StatusOr<absl::Span<Value>> Manager::InputValues(size_t index) {
  return ValuesToFill<Value>(BatchPart::kInput, index);
}
template <typename Value>
absl::StatusOr<absl::Span<Value>> Manager::LabelValues() {
  return ValuesToFill<Value>(BatchPart::kLabel, 0);
}

template absl::StatusOr<absl::Span<float>> Manager::InputValues(size_t);
template absl::StatusOr<absl::Span<int32_t>> Manager::InputValues(size_t);
template absl::StatusOr<absl::Span<float>> Manager::LabelValues();
template absl::StatusOr<absl::Span<int32_t>> Manager::LabelValues();

absl::StatusOr<float> Manager::TrainStep() {
  absl::Status status = CheckMode(NetworkMode::kTraining);
  if (!status.ok()) return status;
  const void* culprit = nullptr;
  status = buffers_.CheckBatch(&culprit);
  if (culprit != nullptr) return Passes().InFirstReader(culprit, status);
  if (status.ok()) status = runner_.EnsureArena();
  if (!status.ok()) return status;
  return Passes().Train();
}

absl::Status Manager::Infer(absl::Span<const InputView> inputs) {
  absl::Status status = CheckMode(NetworkMode::kInference);
  if (status.ok() && buffers_.loss() != nullptr) {
    status = absl::FailedPreconditionError(
        "the plan keeps the loss, which needs a label: call Evaluate");
  }
  if (status.ok()) status = buffers_.LendInputs(inputs);
  return status.ok() ? RunInference() : status;
}

absl::StatusOr<float> Manager::Evaluate(absl::Span<const InputView> inputs,
                                        InputView label) {
  absl::Status status = CheckMode(NetworkMode::kInference);
  if (status.ok() && buffers_.loss() == nullptr) {
    status = absl::FailedPreconditionError(
        "the plan has no loss: plan with MemoryOptions::keep_loss");
  }
  if (status.ok()) status = buffers_.LendInputs(inputs);
  if (status.ok()) status = buffers_.LendLabel(label);
  if (status.ok()) status = RunInference();
  if (!status.ok()) return status;
  return *buffers_.loss();
}

absl::Status Manager::RunInference() {
  absl::Status status = runner_.EnsureArena();
  if (!status.ok()) return status;
  status = Passes().Infer();
  if (!retain_arena_) ReleaseArena();
  return status;
}

absl::StatusOr<absl::Span<const float>> Manager::Output(size_t index) const {
  return buffers_.Output(index);
}

void Manager::ReleaseArena() { runner_.ReleaseArena(); }

absl::Status Manager::ReplaceOptimizer(OptimizerPointer optimizer) {
  absl::Status status = CheckMode(NetworkMode::kTraining);
  if (status.ok()) status = CheckOptimizer(optimizer.get(), optimizer_states_);
  if (!status.ok()) return status;
  if (optimizer->name() != runner_.optimizer()->name()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the optimizer is ", optimizer->name(),
        ", and the states are those of ", runner_.optimizer()->name()));
  }
  for (const StepTable::Step& step : runner_.table().steps()) {
    if (step.kind != StepKind::kApplyGradientTiles) continue;
    status = CheckForTiles(*optimizer);
    if (!status.ok()) return status;
  }
  return runner_.ReplaceOptimizer(std::move(optimizer));
}

absl::StatusOr<std::vector<Manager::TrainedTensor>> Manager::TrainedTensors(
    const ExecutionPlan& plan) const {
  absl::Status status = CheckMode(NetworkMode::kTraining);
  if (status.ok()) status = CheckPlan(plan);
  if (!status.ok()) return status;
  std::vector<TrainedTensor> trained;
  for (const Parameters::Parameter& parameter : parameters_->all()) {
    trained.push_back(
        {std::string(parameter.name), parameter.shape, parameter.values});
  }
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan.tensors[t];
    if (tensor.kind != TensorKind::kOptimizerState) continue;
    const absl::string_view name = tensor.name;  // "hidden.bias state 0"
    const size_t words = name.rfind(kStateWords);
    float* const values = reinterpret_cast<float*>(runner_.table().fixed() +
                                                   plan.OffsetOfTensor(t));
    trained.push_back(
        {absl::StrCat(name.substr(0, words), kStateEnding,
                      name.substr(words + kStateWords.size())),
         tensor.spec.shape,
         absl::MakeSpan(values,
                        static_cast<size_t>(tensor.spec.shape.elements()))});
  }
  return trained;
}

absl::Status Manager::CheckPlan(const ExecutionPlan& plan) const {
  if (PlanFingerprint(plan) == plan_fingerprint_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "this is not the plan that the manager was created from");
}

template <typename Value>
absl::StatusOr<absl::Span<const Value>> Manager::Inspect(
    const ExecutionPlan& plan, absl::string_view name) const {
  const absl::Status status = CheckPlan(plan);
  if (!status.ok()) return status;
  constexpr DType kType = std::is_same<Value, int32_t>::value   ? DType::kI32
                          : std::is_same<Value, uint8_t>::value ? DType::kU8
                                                                : DType::kF32;
  const PlanMemory memory = {runner_.table().fixed(), runner_.arena().data(),
                             parameters_.get()};
  const absl::StatusOr<absl::Span<const char>> bytes =
      LocateTensor(plan, name, kType, memory);
  if (!bytes.ok()) return bytes.status();
  return absl::MakeConstSpan(reinterpret_cast<const Value*>(bytes->data()),
                             bytes->size() / sizeof(Value));
}

template absl::StatusOr<absl::Span<const float>> Manager::Inspect(
    const ExecutionPlan&, absl::string_view) const;
template absl::StatusOr<absl::Span<const int32_t>> Manager::Inspect(
    const ExecutionPlan&, absl::string_view) const;
template absl::StatusOr<absl::Span<const uint8_t>> Manager::Inspect(
    const ExecutionPlan&, absl::string_view) const;

}  // namespace footprint
