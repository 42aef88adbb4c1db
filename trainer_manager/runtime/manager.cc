#include "footprint/trainer_manager/runtime/manager.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/memory/mapped_memory.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/trainer_manager/math/finite_values.h"
#include "footprint/trainer_manager/runtime/gradient_steps.h"
#include "footprint/trainer_manager/runtime/sliced_step.h"

namespace footprint {
namespace {

// Whether the values are what a buffer of `parts` such tensors takes.
absl::Status CheckValues(const char* what, size_t index, const TensorType& spec,
                         int64_t parts, const InputView& values) {
  const int64_t elements = spec.shape.elements() * parts;
  if (spec.type != values.type() ||
      static_cast<int64_t>(values.size()) != elements) {
    Shape whole = spec.shape;
    if (whole.rank() > 0) whole.set_extent(0, whole.extent(0) * parts);
    return absl::InvalidArgumentError(absl::StrCat(
        what, " ", index, " takes ", elements, " ", DTypeName(spec.type),
        " values of shape ", whole.ToString(), ", not ", values.size(), " ",
        DTypeName(values.type())));
  }
  if (values.data() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", index, " lies at a null address"));
  }
  const auto address = reinterpret_cast<uintptr_t>(values.data());
  const auto value_bytes = static_cast<uintptr_t>(DTypeBytes(spec.type));
  if (address % value_bytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", index, " lies ", address % value_bytes,
                     " bytes behind a multiple of ", value_bytes,
                     "; values must be aligned to their size"));
  }
  return absl::OkStatus();
}

template <typename Value>
constexpr DType DTypeOf() {
  if (std::is_same<Value, int32_t>::value) return DType::kI32;
  return std::is_same<Value, uint8_t>::value ? DType::kU8 : DType::kF32;
}

// Why a tensor cannot be read after a step; empty if it can.
absl::string_view WhyUnreadable(const PlannedTensor& tensor, StorageClass where,
                                DType wanted, bool has_arena) {
  if (tensor.spec.type != wanted) {
    switch (tensor.spec.type) {
      case DType::kF32:
        return "holds floats; use Inspect<float>";
      case DType::kI32:
        return "holds indices; use Inspect<int32_t>";
      default:
        return "holds bytes; use Inspect<uint8_t>";
    }
  }
  if (where == StorageClass::kUser) return "lies in the caller's memory";
  // Also where its place is another's that is kept.
  if (!tensor.kept) {
    return "is not kept; plan with MemoryOptions::Debug to keep it";
  }
  if (where == StorageClass::kArena && !has_arena) {
    return "lies in the arena, which is not there: run a step, in inference "
           "with ManagerOptions::retain_arena";
  }
  return "";
}

// Of whatever says where tensors lie.
uint64_t PlanFingerprint(const ExecutionPlan& plan) {
  uint64_t hash = kFingerprintOfNothing;
  const auto add = [&hash](int64_t value) {
    hash = Fingerprint(&value, sizeof(value), hash);
  };
  for (const PlannedTensor& tensor : plan.tensors) {
    const Storage& storage = plan.storages[tensor.storage];
    hash = Fingerprint(tensor.name.data(),
                       static_cast<int64_t>(tensor.name.size()), hash);
    add(tensor.spec.shape.elements());
    add(static_cast<int64_t>(tensor.spec.type) * 2 + tensor.kept);
    add(static_cast<int64_t>(storage.storage_class));
    add(storage.offset_bytes);
  }
  add(plan.arena.height_bytes);
  add(plan.fixed_bytes);
  return hash;
}

absl::Status CheckOptions(const ExecutionPlan& plan,
                          const ManagerOptions& options) {
  if (plan.mode == NetworkMode::kInference) return absl::OkStatus();
  if (options.optimizer == nullptr) {
    return absl::InvalidArgumentError("training needs an optimizer");
  }
  const absl::Status status = options.optimizer->CheckParameters();
  if (!status.ok()) return status;
  const int states = options.optimizer->states_per_weight();
  if (states != plan.optimizer_states || states > kMostOptimizerStates) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the optimizer has ", states, " states for each weight, but ",
        plan.optimizer_states,
        " are planned: give PlanExecution its states_per_weight()"));
  }
  if (!(options.clip_norm > 0) || !(options.clip_value > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gradients cannot be clipped to a norm of ", options.clip_norm,
        " and values of ", options.clip_value, "; both must be above 0"));
  }
  bool clips = false;
  for (const PlannedStep& step : plan.steps) {
    clips |= step.kind == StepKind::kClipGradients;
  }
  if (!clips && std::isfinite(options.clip_norm)) {
    return absl::InvalidArgumentError(
        "clipping by global norm is not planned: set "
        "MemoryOptions::clip_global_norm");
  }
  return absl::OkStatus();
}

// Statistics to their copies, or back.
void CopyStatistics(const StepData& data, Role from, Role to) {
  for (int i = 0; data.Has(from, i); ++i) {
    std::memcpy(data.Write<char>(to, i), data.Read<char>(from, i),
                static_cast<size_t>(data.elements(to, i)) * sizeof(float));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Manager>> Manager::Create(
    const ExecutionPlan& plan, std::shared_ptr<Parameters> parameters,
    const ManagerOptions& options) {
  absl::Status status = CheckOptions(plan, options);
  if (!status.ok()) return status;
  if (parameters == nullptr) {
    return absl::InvalidArgumentError("a manager needs parameters");
  }
  absl::StatusOr<StepTable> table = StepTable::Create(plan, *parameters);
  if (!table.ok()) return table.status();
  std::unique_ptr<Manager> manager(new Manager(*std::move(table)));
  manager->parameters_ = std::move(parameters);
  manager->options_ = options;
  manager->mode_ = plan.mode;
  manager->micro_batches_ = plan.micro_batches;
  manager->math_ = plan.math;
  manager->arena_size_bytes_ = plan.arena.height_bytes;
  manager->plan_fingerprint_ = PlanFingerprint(plan);
  status = manager->Bind(plan);
  if (!status.ok()) return status;
  return manager;
}

absl::Status Manager::Bind(const ExecutionPlan& plan) {
  layers_.reserve(plan.network.layers.size());
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network.layers) {
    layers_.push_back(layer.layer);
  }
  FindSteps(plan);
  for (const size_t tensor : plan.input_tensors) {
    inputs_.push_back(FixedBuffer(plan, tensor));
  }
  for (const size_t tensor : plan.label_tensors) {
    labels_.push_back(FixedBuffer(plan, tensor));
  }
  for (const size_t tensor : plan.output_tensors) {
    outputs_.push_back(FixedBuffer(plan, tensor));
  }
  if (!labels_.empty()) {
    loss_ = reinterpret_cast<float*>(FixedBuffer(plan, plan.loss_tensor).data);
  }
  if (mode_ == NetworkMode::kInference) {
    user_inputs_.resize(inputs_.size() + labels_.size());
    if (options_.watch_inputs) fingerprints_.resize(user_inputs_.size());
  }
  if (options_.poison) watch_ = std::make_unique<PlanWatch>(plan);
  return OpenSwapFile(plan);
}

void Manager::FindSteps(const ExecutionPlan& plan) {
  const auto kind = [&plan](size_t s) { return plan.steps[s].kind; };
  size_t restore = plan.steps.size();
  size_t first_update = plan.steps.size();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (kind(s) == StepKind::kForward &&
        plan.network.layers[plan.steps[s].layer].is_loss()) {
      loss_step_ = static_cast<uint32_t>(s);
    }
    if (kind(s) == StepKind::kRestoreStatistics) restore = s;
    if (kind(s) == StepKind::kApplyGradient) {
      first_update = std::min(first_update, s);
    }
  }
  size_t commit = plan.steps.size();
  while (commit > 0 && (kind(commit - 1) == StepKind::kApplyGradient ||
                        kind(commit - 1) == StepKind::kRestoreStatistics)) {
    --commit;
  }
  if (commit > first_update) commit = plan.steps.size();
  restore_step_ = static_cast<uint32_t>(restore);
  commit_step_ = static_cast<uint32_t>(commit);
}

// If the plan swaps.
absl::Status Manager::OpenSwapFile(const ExecutionPlan& plan) {
  std::vector<int64_t> pieces;
  for (const PlannedStep& step : plan.steps) {
    if (step.kind != StepKind::kSwapOut) continue;
    pieces.push_back(step.file_offset_bytes);
  }
  if (pieces.empty()) return absl::OkStatus();
  if (options_.swap_folder.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan swaps ", plan.swap_file_bytes,
                     " bytes to a file: set ManagerOptions::swap_folder"));
  }
  auto file =
      SwapFile::Create(options_.swap_folder, pieces, plan.swap_file_bytes);
  if (!file.ok()) return file.status();
  swapped_ = *std::move(file);
  return absl::OkStatus();
}

// Its data is null if it is the caller's.
Manager::Buffer Manager::FixedBuffer(const ExecutionPlan& plan,
                                     size_t tensor) const {
  const Storage& storage = plan.storages[plan.tensors[tensor].storage];
  const bool fixed = storage.storage_class == StorageClass::kFixed;
  return {fixed ? table_.fixed() + storage.offset_bytes : nullptr,
          table_.SpecNumberOf(plan.tensors[tensor]), /*is_set=*/false};
}

absl::Status Manager::CheckMode(NetworkMode mode) const {
  if (mode_ == mode) return absl::OkStatus();
  return absl::FailedPreconditionError(
      mode == NetworkMode::kTraining
          ? "the plan is one for inference: call Infer, or plan with "
            "NetworkMode::kTraining"
          : "the plan is one for training: call TrainStep, or plan with "
            "NetworkMode::kInference");
}

absl::Status Manager::CopyTo(std::vector<Buffer>* buffers, const char* what,
                             size_t index, InputView values) {
  absl::Status status = CheckMode(NetworkMode::kTraining);
  if (!status.ok()) return status;
  if (index >= buffers->size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no ", what, " ", index, "; there are ", buffers->size()));
  }
  Buffer& buffer = (*buffers)[index];
  const TensorType& spec = SpecOf(buffer);
  status = CheckValues(what, index, spec, micro_batches_, values);
  if (!status.ok()) return status;
  std::memcpy(buffer.data, values.data(),
              static_cast<size_t>(SizeBytes(spec) * micro_batches_));
  buffer.is_set = true;
  return absl::OkStatus();
}

absl::Status Manager::SetInput(size_t index, absl::Span<const float> values) {
  return CopyTo(&inputs_, "input", index, values);
}
absl::Status Manager::SetInput(size_t index, absl::Span<const int32_t> values) {
  return CopyTo(&inputs_, "input", index, values);
}
absl::Status Manager::SetLabel(absl::Span<const float> values) {
  return CopyTo(&labels_, "label", 0, values);
}
absl::Status Manager::SetLabel(absl::Span<const int32_t> values) {
  return CopyTo(&labels_, "label", 0, values);
}

template <typename Value>
absl::StatusOr<absl::Span<Value>> Manager::ValuesOf(
    std::vector<Buffer>* buffers, const char* what, size_t index) {
  const absl::Status status = CheckMode(NetworkMode::kTraining);
  if (!status.ok()) return status;
  constexpr DType kType = DTypeOf<Value>();
  if (index >= buffers->size() || SpecOf((*buffers)[index]).type != kType) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no ", what, " ", index, " of ", DTypeName(kType),
                     " values to fill"));
  }
  Buffer& buffer = (*buffers)[index];
  buffer.is_set = true;
  return absl::MakeSpan(
      reinterpret_cast<Value*>(buffer.data),
      static_cast<size_t>(SpecOf(buffer).shape.elements() * micro_batches_));
}

template <typename Value>
absl::StatusOr<absl::Span<Value>> Manager::InputValues(size_t index) {
  return ValuesOf<Value>(&inputs_, "input", index);
}
template <typename Value>
absl::StatusOr<absl::Span<Value>> Manager::LabelValues() {
  return ValuesOf<Value>(&labels_, "label", 0);
}

template absl::StatusOr<absl::Span<float>> Manager::InputValues(size_t);
template absl::StatusOr<absl::Span<int32_t>> Manager::InputValues(size_t);
template absl::StatusOr<absl::Span<float>> Manager::LabelValues();
template absl::StatusOr<absl::Span<int32_t>> Manager::LabelValues();

absl::Status Manager::CheckBatch() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const absl::Status status = CheckData(inputs_[i], "input", i);
    if (!status.ok()) return status;
  }
  return CheckData(labels_[0], "label", 0);
}

// Whether it was set, to finite values.
absl::Status Manager::CheckData(const Buffer& buffer, const char* what,
                                size_t index) {
  if (!buffer.is_set) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " ", index,
                     " was never set: give the manager its values before "
                     "the first step"));
  }
  const TensorType& spec = SpecOf(buffer);
  if (spec.type != DType::kF32) return absl::OkStatus();
  const float* values = reinterpret_cast<const float*>(buffer.data);
  const int64_t place =
      FirstNotFinite(values, spec.shape.elements() * micro_batches_);
  if (place < 0) return absl::OkStatus();
  const absl::Status status = absl::OutOfRangeError(
      absl::StrCat(what, " ", index, " is ", values[place], " at place ", place,
                   " of the batch"));
  micro_batch_ = 0;
  for (const Step& step : table_.steps().subspan(0, loss_step_ + 1)) {
    for (const StepData::Slot& slot : SlotsOf(step)) {
      if (slot.data == buffer.data) return InLayer(step, status);
    }
  }
  return status;
}

absl::StatusOr<float> Manager::TrainStep() {
  absl::Status status = CheckMode(NetworkMode::kTraining);
  if (status.ok()) status = CheckBatch();
  if (status.ok()) status = EnsureArena();
  if (!status.ok()) return status;
  ++iteration_;
  double loss = 0;
  for (micro_batch_ = 0; micro_batch_ < micro_batches_; ++micro_batch_) {
    size_t failed = 0;
    status = RunForward(&failed);
    if (status.ok()) {
      loss += *loss_;
      status = RunSteps(loss_step_ + 1, table_.steps().size(), &failed);
    }
    if (!status.ok()) return Undo(status, failed);
  }
  return static_cast<float>(loss / static_cast<double>(micro_batches_));
}

absl::Status Manager::RunForward(size_t* failed) {
  const absl::Status status = RunSteps(0, loss_step_ + 1, failed);
  if (!status.ok() || std::isfinite(*loss_)) return status;
  RestoreStatistics(loss_step_);
  *failed = loss_step_;
  return ExplainForward(absl::StrCat("the loss is ", *loss_), loss_step_ + 1);
}

// As long as their copies are there: runs no check, since copies are made
// before anything can fail. Whether statistics are as before the iteration.
bool Manager::RestoreStatistics(size_t failed) {
  if (restore_step_ >= table_.steps().size()) return true;
  if (failed > restore_step_ && micro_batches_ == 1) return false;
  const Step& step = table_.steps()[restore_step_];
  CopyStatistics(DataOf(step, SlotsOf(step)), Role::kSaved, Role::kStatistic);
  return true;
}

// Makes the iteration one that was not, as far as that goes; the text says what
// has changed.
absl::Status Manager::Undo(const absl::Status& status, size_t failed) {
  std::string changed;
  for (size_t s = 0; s < failed && IsLastMicroBatch(); ++s) {
    const Step& step = table_.steps()[s];
    if (step.kind != StepKind::kApplyGradient) continue;
    absl::StrAppend(&changed, changed.empty() ? "\"" : ", \"",
                    table_.NameOf(step.layer).Text(), "\"");
  }
  if (!changed.empty()) {
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; the weights of ", changed,
                     " have changed already: load the last saved ones; "
                     "MemoryOptions::atomic_steps refuses before the first "
                     "changes"));
  }
  --iteration_;
  if (RestoreStatistics(failed)) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   "; no weight has changed, but running statistics have: "
                   "MemoryOptions::atomic_steps restores them"));
}

const Manager::Buffer& Manager::LentBuffer(size_t index) const {
  return index < inputs_.size() ? inputs_[index]
                                : labels_[index - inputs_.size()];
}

absl::Status Manager::Lend(size_t index, InputView values) {
  const TensorType& spec = SpecOf(LentBuffer(index));
  const bool is_input = index < inputs_.size();
  const char* const what = is_input ? "input" : "label";
  const size_t number = is_input ? index : index - inputs_.size();
  const absl::Status status = CheckValues(what, number, spec, 1, values);
  if (!status.ok()) return status;
  user_inputs_[index] = values.data();
  if (!options_.watch_inputs) return absl::OkStatus();
  if (!IsMapped(values.data(), SizeBytes(spec))) {
    return absl::FailedPreconditionError(absl::StrCat(
        what, " ", number, " is no memory of this program: it was released"));
  }
  fingerprints_[index] = Fingerprint(values.data(), SizeBytes(spec));
  return absl::OkStatus();
}

absl::Status Manager::LendAll(absl::Span<const InputView> inputs) {
  if (inputs.size() != inputs_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an inference with ", inputs.size(),
                     " inputs, but the network has ", inputs_.size()));
  }
  absl::Status status;
  for (size_t i = 0; status.ok() && i < inputs.size(); ++i) {
    status = Lend(i, inputs[i]);
  }
  return status;
}

absl::Status Manager::Infer(absl::Span<const InputView> inputs) {
  absl::Status status = CheckMode(NetworkMode::kInference);
  if (status.ok() && loss_ != nullptr) {
    status = absl::FailedPreconditionError(
        "the plan keeps the loss, which needs a label: call Evaluate");
  }
  if (status.ok()) status = LendAll(inputs);
  if (status.ok()) status = EnsureArena();
  if (!status.ok()) return status;
  size_t failed = 0;
  status = RunSteps(0, table_.steps().size(), &failed);
  if (status.ok()) status = CheckOutputs();
  if (!options_.retain_arena) ReleaseArena();
  return status;
}

// After an inference, whose arena is still there.
absl::Status Manager::CheckOutputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Buffer& output = outputs_[i];
    const TensorType& spec = SpecOf(output);
    if (output.data == nullptr || spec.type != DType::kF32) continue;
    const float* values = reinterpret_cast<const float*>(output.data);
    const int64_t place = FirstNotFinite(values, spec.shape.elements());
    if (place < 0) continue;
    return ExplainForward(
        absl::StrCat("output ", i, " is ", values[place], " at place ", place),
        table_.steps().size());
  }
  return absl::OkStatus();
}

absl::StatusOr<float> Manager::Evaluate(absl::Span<const InputView> inputs,
                                        InputView label) {
  absl::Status status = CheckMode(NetworkMode::kInference);
  if (status.ok() && loss_ == nullptr) {
    status = absl::FailedPreconditionError(
        "the plan has no loss: plan with MemoryOptions::keep_loss");
  }
  if (status.ok()) status = LendAll(inputs);
  if (status.ok()) status = Lend(inputs_.size(), label);
  if (status.ok()) status = EnsureArena();
  if (!status.ok()) return status;
  size_t failed = 0;
  status = RunSteps(0, table_.steps().size(), &failed);
  if (status.ok() && !std::isfinite(*loss_)) {
    status =
        ExplainForward(absl::StrCat("the loss is ", *loss_), loss_step_ + 1);
  }
  if (status.ok()) status = CheckOutputs();
  if (!options_.retain_arena) ReleaseArena();
  if (!status.ok()) return status;
  return *loss_;
}

absl::StatusOr<absl::Span<const float>> Manager::Output(size_t index) const {
  if (index >= outputs_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no output ", index, " is kept; there are ", outputs_.size()));
  }
  const Buffer& buffer = outputs_[index];
  return absl::MakeConstSpan(
      reinterpret_cast<const float*>(buffer.data),
      static_cast<size_t>(SpecOf(buffer).shape.elements()));
}

absl::Status Manager::EnsureArena() {
  if (arena_.size_bytes() == arena_size_bytes_) return absl::OkStatus();
  absl::StatusOr<MemoryBlock> arena = MemoryBlock::Allocate(arena_size_bytes_);
  if (!arena.ok()) return arena.status();
  arena_ = *std::move(arena);
  return absl::OkStatus();
}

void Manager::ReleaseArena() { MemoryBlock released = std::move(arena_); }

absl::Status Manager::RunSteps(size_t begin, size_t end, size_t* failed) {
  if (watch_ != nullptr && begin == 0) {
    watch_->Begin(arena_.data(), arena_.size_bytes());
  }
  for (size_t s = begin; s < end; ++s) {
    *failed = s;
    absl::Status status;
    if (s == commit_step_ && IsLastMicroBatch()) status = PrepareUpdates();
    if (status.ok()) status = RunStep(s);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// All of them, before the first weight changes.
absl::Status Manager::PrepareUpdates() {
  for (const Step& step : table_.steps().subspan(commit_step_)) {
    if (step.kind != StepKind::kApplyGradient) continue;
    const Slots slots = SlotsOf(step);
    const absl::Status status =
        PrepareGradients(DataOf(step, slots), *options_.optimizer,
                         options_.clip_value, iteration_);
    if (!status.ok()) return InLayer(step, status);
    if (watch_ != nullptr) watch_->MarkWritten(step.first_use, slots);
  }
  return absl::OkStatus();
}

absl::Status Manager::RunStep(size_t index) {
  const Step& step = table_.steps()[index];
  const Slots slots = SlotsOf(step);
  const StepData data = DataOf(step, slots);
  absl::Status status = CheckInputsUnchanged(step, slots);
  if (!status.ok()) return status;
  if (watch_ != nullptr) status = watch_->CheckRead(step.first_use, slots);
  if (status.ok()) status = RunKind(step, slots, data);
  if (status.ok() && watch_ != nullptr &&
      step.kind != StepKind::kCopyStatistics &&
      step.kind != StepKind::kRestoreStatistics) {
    status = CheckFinite(slots, /*written=*/true);
  }
  if (!status.ok()) {
    // These say themselves which layer it is.
    const bool of_all = step.kind == StepKind::kClipGradients ||
                        step.kind == StepKind::kRestoreStatistics;
    return of_all ? status : InLayer(step, status);
  }
  if (watch_ != nullptr) {
    watch_->MarkWritten(step.first_use, slots);
    watch_->PoisonAfter(index, arena_.data());
  }
  return CheckInputsUnchanged(step, slots);
}

absl::Status Manager::RunKind(const Step& step, Slots slots,
                              const StepData& data) {
  const Layer& layer = *layers_[step.layer];
  switch (step.kind) {
    case StepKind::kForward:
      return layer.Forward(data);
    case StepKind::kRecompute:
      return layer.Recompute(data);
    case StepKind::kSwapOut:
    case StepKind::kSwapIn:
      return RunSwap(step, data);
    case StepKind::kCopyInput:
      std::memcpy(
          data.Write<char>(Role::kOutput), data.Read<char>(Role::kInput),
          static_cast<size_t>(data.elements(Role::kOutput)) * sizeof(float));
      break;
    case StepKind::kCalculateGradient:
      layer.CalculateGradient(data);
      break;
    case StepKind::kCalculateDerivative:
      layer.CalculateDerivative(data);
      break;
    case StepKind::kSlicedDerivative:
      CalculateSlicedDerivative(layer, *layers_[step.other], slots, data);
      break;
    case StepKind::kSumDerivatives:
    case StepKind::kSumGradients:
      AddTensors(data);
      break;
    case StepKind::kAccumulateGradient:
      AccumulateGradient(data, micro_batch_, micro_batches_);
      break;
    case StepKind::kClipGradients:
      if (IsLastMicroBatch() && !ClipGradients(data, options_.clip_norm)) {
        return ExplainGradients();
      }
      break;
    case StepKind::kApplyGradient:
      if (!IsLastMicroBatch()) break;
      return ApplyUpdate(data);
    case StepKind::kCopyStatistics:
      if (micro_batch_ > 0) break;
      CopyStatistics(data, Role::kStatistic, Role::kSaved);
      break;
    case StepKind::kRestoreStatistics:
      // They are restored where the iteration is refused.
      if (!CheckFinite(slots, /*written=*/true).ok()) {
        return ExplainStatistics();
      }
      break;
  }
  return absl::OkStatus();
}

// Where the plan changes weights layer by layer, what may refuse the update is
// looked at just before it.
absl::Status Manager::ApplyUpdate(const StepData& data) {
  if (!IsAtomic()) {
    const absl::Status status = PrepareGradients(
        data, *options_.optimizer, options_.clip_value, iteration_);
    if (!status.ok()) return status;
  }
  ApplyGradients(data, *options_.optimizer, iteration_);
  return absl::OkStatus();
}

absl::Status Manager::RunSwap(const Step& step, const StepData& data) {
  const bool out = step.kind == StepKind::kSwapOut;
  const int64_t bytes = data.elements(out ? Role::kInput : Role::kOutput) *
                        int64_t{sizeof(float)};
  return out ? swapped_->Write(step.other, data.Read<char>(Role::kInput), bytes)
             : swapped_->Read(step.other, data.Write<char>(Role::kOutput),
                              bytes);
}

// If inputs are watched: before the step, which must not read what is gone, and
// after it.
absl::Status Manager::CheckInputsUnchanged(const Step& step,
                                           Slots slots) const {
  if (fingerprints_.empty()) return absl::OkStatus();
  for (const StepData::Slot& slot : slots) {
    for (size_t i = 0; i < user_inputs_.size(); ++i) {
      if (slot.data != user_inputs_[i]) continue;
      const int64_t size_bytes = SizeBytes(SpecOf(LentBuffer(i)));
      const bool released = !IsMapped(slot.data, size_bytes);
      if (!released && Fingerprint(slot.data, size_bytes) == fingerprints_[i]) {
        continue;
      }
      const bool is_input = i < inputs_.size();
      return absl::FailedPreconditionError(absl::StrCat(
          is_input ? "input " : "label ", is_input ? i : i - inputs_.size(),
          released ? " was released" : " changed", " before layer \"",
          table_.NameOf(step.layer).Text(),
          "\" was done with it: keep the memory until the call returns"));
    }
  }
  return absl::OkStatus();
}

// Runs forward once more, to see where the first NaN or infinity comes from.
absl::Status Manager::ExplainForward(const std::string& what, size_t end) {
  for (size_t s = 0; s < end; ++s) {
    const Step& step = table_.steps()[s];
    const bool checked = step.kind != StepKind::kCopyStatistics;
    absl::Status status;
    if (checked) status = InLayer(step, CheckFinite(SlotsOf(step), false));
    if (status.ok()) status = RunStep(s);
    if (status.ok() && checked) {
      status = InLayer(step, CheckFinite(SlotsOf(step), true));
    }
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat(what, "; first in ", status.message()));
  }
  return absl::OutOfRangeError(what);
}

// Which gradient it is that is not finite.
absl::Status Manager::ExplainGradients() {
  for (const Step& step : table_.steps()) {
    if (step.kind != StepKind::kApplyGradient) continue;
    const absl::Status status = CheckFinite(SlotsOf(step), /*written=*/false);
    if (!status.ok()) return InLayer(step, status);
  }
  return absl::OutOfRangeError("a gradient is not finite");
}

// Which running statistic; the forward step that wrote it did nothing else that
// could be seen in the loss.
absl::Status Manager::ExplainStatistics() {
  for (const Step& step : table_.steps()) {
    if (step.kind != StepKind::kForward) continue;
    for (const StepData::Slot& slot : SlotsOf(step)) {
      if (slot.operand.role != Role::kStatistic) continue;
      const absl::Status status =
          CheckFinite(absl::MakeConstSpan(&slot, 1), /*written=*/true);
      if (!status.ok()) return InLayer(step, status);
    }
  }
  return absl::OutOfRangeError("a running statistic is not finite");
}

absl::Status Manager::InLayer(const Step& step,
                              const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("layer \"", table_.NameOf(step.layer).Text(), "\", ",
                   StepKindName(step.kind), ": ", status.message()));
}

// Valid until the next call.
Manager::Slots Manager::SlotsOf(const Step& step) {
  return table_.SlotsOf(step, {arena_.data(), user_inputs_, micro_batch_});
}

// Refers to `slots`.
StepData Manager::DataOf(const Step& step, Slots slots) const {
  return StepData(slots, mode_, SeedOf(step.layer), *math_,
                  table_.NameOf(step.layer));
}

uint64_t Manager::SeedOf(size_t layer) const {
  return MixBits(options_.seed ^
                 RandomAt(static_cast<uint64_t>(layer) +
                              (static_cast<uint64_t>(micro_batch_) << 32),
                          static_cast<uint64_t>(iteration_)));
}

template <typename Value>
absl::StatusOr<absl::Span<const Value>> Manager::Inspect(
    const ExecutionPlan& plan, absl::string_view name) const {
  if (PlanFingerprint(plan) != plan_fingerprint_) {
    return absl::InvalidArgumentError(
        "this is not the plan that the manager was created from");
  }
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan.tensors[t];
    if (tensor.name != name) continue;
    const Storage& storage = plan.storages[tensor.storage];
    const StorageClass where = storage.storage_class;
    const absl::string_view why = WhyUnreadable(tensor, where, DTypeOf<Value>(),
                                                arena_.data() != nullptr);
    if (!why.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("tensor \"", name, "\" ", why));
    }
    const char* data = nullptr;
    if (where == StorageClass::kModel) {
      const absl::StatusOr<float*> parameter =
          LocateParameter(tensor, *parameters_);
      if (!parameter.ok()) return parameter.status();
      data = reinterpret_cast<const char*>(*parameter);
    } else {
      data = (where == StorageClass::kFixed ? table_.fixed() : arena_.data()) +
             storage.offset_bytes;
    }
    return absl::MakeConstSpan(
        reinterpret_cast<const Value*>(data),
        static_cast<size_t>(tensor.size_bytes) / sizeof(Value));
  }
  return absl::NotFoundError(
      absl::StrCat("the plan has no tensor \"", name, "\""));
}

template absl::StatusOr<absl::Span<const float>> Manager::Inspect(
    const ExecutionPlan&, absl::string_view) const;
template absl::StatusOr<absl::Span<const int32_t>> Manager::Inspect(
    const ExecutionPlan&, absl::string_view) const;
template absl::StatusOr<absl::Span<const uint8_t>> Manager::Inspect(
    const ExecutionPlan&, absl::string_view) const;

}  // namespace footprint
