#include "footprint/trainer_manager/c/trainer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/safetensors/safetensors_file.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_state.h"

namespace footprint {
namespace {

std::string FindLargestStep(const ExecutionPlan& plan) {
  return plan.steps.empty() ? "" : StepName(plan, plan.certificate.step);
}

const MathBackend& ChooseBackend(const MathBackend* team) {
  return team == nullptr ? HighwayBackend() : *team;
}

absl::Status WrongMode(absl::string_view needed) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the trainer was planned for another mode; plan with mode=", needed));
}

}  // namespace

Trainer::Trainer(Network network, TrainerSettings settings,
                 std::unique_ptr<const MathBackend> team, ExecutionPlan plan)
    : network_(std::move(network)),
      settings_(std::move(settings)),
      team_(std::move(team)),
      plan_(std::move(plan)),
      largest_step_(FindLargestStep(plan_)),
      is_set_(network_.inputs().size(), false),
      floats_(network_.inputs().size()),
      integers_(network_.inputs().size()) {}

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Plan(
    Network network, TrainerSettings settings) {
  const int states = settings.manager.optimizer == nullptr
                         ? 0
                         : settings.manager.optimizer->states_per_weight();
  std::unique_ptr<const MathBackend> team;
  if (settings.threads > 1) team = MakeTeamBackend(settings.threads);
  absl::StatusOr<ExecutionPlan> plan =
      PlanExecution(network, settings.mode, settings.memory, states,
                    ChooseBackend(team.get()));
  if (!plan.ok()) return plan.status();
  if (settings.is_pytorch_file) {
    settings.manager.weights_map = PyTorchMap(*plan);
  }
  return std::unique_ptr<Trainer>(
      new Trainer(std::move(network), std::move(settings), std::move(team),
                  *std::move(plan)));
}

absl::Status Trainer::Create() {
  if (parameters_ != nullptr) {
    return absl::FailedPreconditionError("the trainer was created before");
  }
  auto parameters = Parameters::Create(plan_, settings_.manager.seed);
  if (!parameters.ok()) return parameters.status();
  auto manager = Manager::Create(plan_, *parameters, settings_.manager);
  if (!manager.ok()) return manager.status();
  (plan_.mode == NetworkMode::kTraining ? training_ : inference_) =
      *std::move(manager);
  parameters_ = *std::move(parameters);
  return absl::OkStatus();
}

absl::Status Trainer::CheckCreated() const {
  if (parameters_ != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the trainer is only planned: create it first");
}

absl::Status Trainer::CheckSlot(int slot) const {
  const int64_t inputs = static_cast<int64_t>(network_.inputs().size());
  if (slot >= 0 && slot < inputs) return absl::OkStatus();
  if (slot != kLabel) {
    return absl::InvalidArgumentError(
        absl::StrCat("no slot ", slot, ": the network has ", inputs,
                     " inputs, from 0 on, and the label ", kLabel));
  }
  return training_ != nullptr ? absl::OkStatus() : WrongMode("training");
}

absl::Status Trainer::Keep(size_t slot, InputView values) {
  const absl::Status status =
      CheckInputView("input", slot, network_.inputs()[slot].spec, 1, values);
  if (!status.ok()) return status;
  if (values.type() == DType::kF32) {
    const float* first = static_cast<const float*>(values.data());
    floats_[slot].assign(first, first + values.size());
  } else {
    const int32_t* first = static_cast<const int32_t*>(values.data());
    integers_[slot].assign(first, first + values.size());
  }
  return absl::OkStatus();
}

absl::Status Trainer::Set(int slot, InputView values) {
  absl::Status status = CheckCreated();
  if (status.ok()) status = CheckSlot(slot);
  if (!status.ok()) return status;
  const auto set = [&](auto span) {
    return slot == kLabel
               ? training_->SetLabel(span)
               : training_->SetInput(static_cast<size_t>(slot), span);
  };
  if (training_ == nullptr) {
    status = Keep(static_cast<size_t>(slot), values);
  } else if (values.type() == DType::kF32) {
    status = set(absl::MakeConstSpan(static_cast<const float*>(values.data()),
                                     values.size()));
  } else {
    status = set(absl::MakeConstSpan(static_cast<const int32_t*>(values.data()),
                                     values.size()));
  }
  if (status.ok() && slot != kLabel) is_set_[static_cast<size_t>(slot)] = true;
  return status;
}

absl::StatusOr<float> Trainer::Step() {
  const absl::Status status = CheckCreated();
  if (!status.ok()) return status;
  if (training_ == nullptr) return WrongMode("training");
  return training_->TrainStep();
}

absl::StatusOr<Manager*> Trainer::FindInference() {
  if (inference_ != nullptr) return inference_.get();
  const auto plan = PlanInferenceBeside(plan_, network_, settings_.memory,
                                        ChooseBackend(team_.get()));
  if (!plan.ok()) return plan.status();
  ManagerOptions options;
  options.weights_file = settings_.manager.weights_file;
  options.weights_map = settings_.manager.weights_map;
  auto manager = Manager::Create(*plan, parameters_, options);
  if (!manager.ok()) return manager.status();
  inference_ = *std::move(manager);
  return inference_.get();
}

absl::StatusOr<std::vector<InputView>> Trainer::FindInputs() {
  std::vector<InputView> views;
  for (size_t i = 0; i < is_set_.size(); ++i) {
    if (!is_set_[i]) {
      return absl::FailedPreconditionError(absl::StrCat(
          "input ", i, " \"", network_.inputs()[i].name, "\" was never set"));
    }
    const bool is_float = network_.inputs()[i].spec.type == DType::kF32;
    if (training_ == nullptr) {
      views.push_back(is_float ? InputView(floats_[i])
                               : InputView(integers_[i]));
    } else if (is_float) {
      const auto values = training_->InputValues<float>(i);
      if (!values.ok()) return values.status();
      views.emplace_back(*values);
    } else {
      const auto values = training_->InputValues<int32_t>(i);
      if (!values.ok()) return values.status();
      views.emplace_back(*values);
    }
  }
  return views;
}

absl::Status Trainer::Infer() {
  has_inferred_ = false;
  const absl::Status status = CheckCreated();
  if (!status.ok()) return status;
  const auto inputs = FindInputs();
  if (!inputs.ok()) return inputs.status();
  const absl::StatusOr<Manager*> inference = FindInference();
  if (!inference.ok()) return inference.status();
  if (training_ != nullptr) training_->ReleaseArena();
  const absl::Status inferred = (*inference)->Infer(*inputs);
  has_inferred_ = inferred.ok();
  return inferred;
}

absl::StatusOr<absl::Span<const float>> Trainer::Output(size_t index) const {
  if (!has_inferred_) {
    return absl::FailedPreconditionError(
        "there is no output: infer first, and after a failure again");
  }
  return inference_->Output(index);
}

absl::StatusOr<absl::Span<const float>> Trainer::Weight(
    absl::string_view name) const {
  const absl::Status status = CheckCreated();
  if (!status.ok()) return status;
  return parameters_->Find(name);
}

absl::Status Trainer::SaveWeights(absl::string_view path) const {
  const absl::Status status = CheckCreated();
  return status.ok() ? SaveParameters(*parameters_, path) : status;
}

absl::Status Trainer::SaveTraining(absl::string_view path) const {
  const absl::Status status = CheckCreated();
  if (!status.ok()) return status;
  if (training_ == nullptr) return WrongMode("training");
  return footprint::SaveTraining(plan_, *training_, path);
}

absl::Status Trainer::Load(absl::string_view path) {
  absl::Status status = CheckCreated();
  if (!status.ok()) return status;
  has_inferred_ = false;
  bool is_training_file = false;
  {
    const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
    if (!file.ok()) return file.status();
    is_training_file = file->index().metadata().count(kTrainingFileKey) > 0;
    if (inference_ != nullptr) {
      status = CheckFrozenWeights(*file, *inference_);
      if (!status.ok()) return status;
    }
  }
  if (training_ == nullptr || !is_training_file) {
    ParameterMap map;
    // The file may also hold the frozen weights that stay in theirs.
    if (settings_.memory.read_frozen_weights) map.only = "*";
    return LoadParameters(path, map, parameters_.get());
  }
  return ResumeTraining(path, plan_, training_.get()).status();
}

int64_t Trainer::iteration() const {
  return training_ == nullptr ? 0 : training_->iteration();
}

}  // namespace footprint
