#include "footprint/trainer_manager/manager.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/fingerprint.h"
#include "footprint/trainer_manager/gradient_steps.h"
#include "footprint/trainer_manager/random_sequence.h"
#include "footprint/trainer_manager/sliced_step.h"

namespace footprint {
namespace {

constexpr int kMost16Bits = 65535;

absl::string_view TypeOf(ValueType type) {
  return type == ValueType::kInt32 ? "int32" : "float";
}

// Whether the values are what a buffer of `parts` such tensors takes.
absl::Status CheckValues(const char* what, size_t index, const TensorType& spec,
                         int64_t parts, const InputView& values) {
  const int64_t elements = spec.shape.elements() * parts;
  if (spec.type == values.type() &&
      static_cast<int64_t>(values.size()) == elements &&
      values.data() != nullptr) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      what, " ", index, " takes ", elements, " ", TypeOf(spec.type),
      " values of shape ", spec.shape.ToString(), ", not ", values.size(), " ",
      TypeOf(values.type())));
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
  const int states = options.optimizer->states_per_weight();
  if (states != plan.optimizer_states || states > kMostOptimizerStates) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the optimizer has ", states, " states for each weight, but ",
        plan.optimizer_states, " are planned"));
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
  std::unique_ptr<Manager> manager(new Manager);
  manager->parameters_ = std::move(parameters);
  manager->options_ = options;
  manager->mode_ = plan.mode;
  manager->micro_batches_ = plan.micro_batches;
  manager->math_ = plan.math;
  manager->arena_size_bytes_ = plan.arena.height_bytes;
  manager->plan_fingerprint_ = PlanFingerprint(plan);
  absl::StatusOr<MemoryBlock> fixed = MemoryBlock::Allocate(plan.fixed_bytes);
  if (!fixed.ok()) return fixed.status();
  manager->fixed_ = *std::move(fixed);
  status = manager->Bind(plan);
  if (!status.ok()) return status;
  return manager;
}

absl::Status Manager::Bind(const ExecutionPlan& plan) {
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network.layers) {
    layers_.push_back(layer.layer);
    names_.append(layer.name.c_str()).push_back('\0');
  }
  layers_.shrink_to_fit();
  names_.shrink_to_fit();
  for (const PlannedTensor& tensor : plan.tensors) {
    if (FindSpec(tensor.spec) == specs_.size()) specs_.push_back(tensor.spec);
  }
  specs_.shrink_to_fit();  // from here on, its elements stay where they are
  size_t uses = 0;
  size_t most_uses = 0;
  for (const PlannedStep& step : plan.steps) {
    uses += step.uses.size();
    most_uses = std::max(most_uses, step.uses.size());
  }
  uses_.reserve(uses);
  slots_.resize(most_uses);
  steps_.reserve(plan.steps.size());
  std::vector<int64_t> pieces;
  for (const PlannedStep& step : plan.steps) {
    AddStep(plan, step, &pieces);
    for (const TensorUse& use : step.uses) {
      const absl::Status status = AddUse(plan, use);
      if (!status.ok()) return status;
    }
  }
  for (const size_t tensor : plan.input_tensors) {
    inputs_.push_back(FixedBuffer(plan, tensor));
  }
  for (const size_t tensor : plan.label_tensors) {
    labels_.push_back(FixedBuffer(plan, tensor));
  }
  for (const size_t tensor : plan.output_tensors) {
    outputs_.push_back(FixedBuffer(plan, tensor));
  }
  user_inputs_.resize(inputs_.size());
  if (mode_ == NetworkMode::kTraining) {
    loss_ = reinterpret_cast<float*>(FixedBuffer(plan, plan.loss_tensor).data);
  }
  if (options_.poison) watch_ = std::make_unique<PlanWatch>(plan);
  return pieces.empty() ? absl::OkStatus()
                        : OpenSwapFile(pieces, plan.swap_file_bytes);
}

void Manager::AddStep(const ExecutionPlan& plan, const PlannedStep& step,
                      std::vector<int64_t>* pieces) {
  const ResolvedNetwork::ResolvedLayer& layer = plan.network.layers[step.layer];
  size_t other = 0;
  if (step.kind == StepKind::kSlicedDerivative) {
    other = layer.inputs[0] - plan.network.inputs.size();
  } else if (step.kind == StepKind::kSwapOut) {
    other = pieces->size();
    pieces->push_back(step.file_offset_bytes);
  } else if (step.kind == StepKind::kSwapIn) {
    while ((*pieces)[other] != step.file_offset_bytes) ++other;
  } else if (step.kind == StepKind::kForward && layer.is_loss()) {
    loss_step_ = steps_.size();
  }
  steps_.push_back({static_cast<uint32_t>(step.layer),
                    static_cast<uint32_t>(other),
                    static_cast<uint32_t>(uses_.size()),
                    static_cast<uint16_t>(step.uses.size()), step.kind});
}

absl::Status Manager::OpenSwapFile(const std::vector<int64_t>& pieces,
                                   int64_t size_bytes) {
  if (options_.swap_folder.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan swaps ", size_bytes,
                     " bytes to a file: set ManagerOptions::swap_folder"));
  }
  auto file = SwapFile::Create(options_.swap_folder, pieces, size_bytes);
  if (!file.ok()) return file.status();
  swapped_ = *std::move(file);
  return absl::OkStatus();
}

// The number of specs if there is none like it.
size_t Manager::FindSpec(const TensorType& spec) const {
  size_t i = 0;
  while (i < specs_.size() &&
         !(specs_[i].shape == spec.shape && specs_[i].type == spec.type)) {
    ++i;
  }
  return i;
}

absl::Status Manager::AddUse(const ExecutionPlan& plan, const TensorUse& use) {
  const PlannedTensor& tensor = plan.tensors[use.tensor];
  const Storage& storage = plan.storages[tensor.storage];
  const size_t spec = FindSpec(tensor.spec);
  if (spec > kMost16Bits || use.operand.index > kMost16Bits) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensors of more than ", kMost16Bits,
                     " shapes, or as many operands of one layer"));
  }
  int64_t place = storage.offset_bytes;
  if (storage.storage_class == StorageClass::kUser) {
    place = 0;
    while (
        plan.tensors[plan.input_tensors[static_cast<size_t>(place)]].storage !=
        tensor.storage) {
      ++place;
    }
  } else if (storage.storage_class != StorageClass::kArena) {
    const absl::StatusOr<void*> data = Locate(plan, use.tensor);
    if (!data.ok()) return data.status();
    place = reinterpret_cast<intptr_t>(*data);
  }
  uses_.push_back({place, static_cast<uint16_t>(spec),
                   static_cast<uint16_t>(use.operand.index), use.operand.role,
                   storage.storage_class, use.read, use.written,
                   plan.mode == NetworkMode::kTraining &&
                       (tensor.kind == TensorKind::kInput ||
                        tensor.kind == TensorKind::kLabel)});
  return absl::OkStatus();
}

// Where a tensor lies, unless the caller owns it.
absl::StatusOr<void*> Manager::Locate(const ExecutionPlan& plan,
                                      size_t tensor) const {
  const PlannedTensor& planned = plan.tensors[tensor];
  const Storage& storage = plan.storages[planned.storage];
  if (storage.storage_class == StorageClass::kFixed) {
    return fixed_.data() + storage.offset_bytes;
  }
  if (storage.storage_class == StorageClass::kArena) {
    return arena_.data() + storage.offset_bytes;
  }
  const absl::StatusOr<absl::Span<float>> values =
      parameters_->Find(planned.name);
  if (!values.ok()) {
    return absl::InvalidArgumentError(values.status().message());
  }
  if (static_cast<int64_t>(values->size()) != planned.spec.shape.elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameter \"", planned.name, "\" has ", values->size(),
        " values, but the network needs ", planned.spec.shape.ToString()));
  }
  return values->data();
}

// Its data is null if it is the caller's.
Manager::Buffer Manager::FixedBuffer(const ExecutionPlan& plan,
                                     size_t tensor) const {
  const Storage& storage = plan.storages[plan.tensors[tensor].storage];
  const bool fixed = storage.storage_class == StorageClass::kFixed;
  return {&specs_[FindSpec(plan.tensors[tensor].spec)],
          fixed ? fixed_.data() + storage.offset_bytes : nullptr};
}

absl::Status Manager::CopyTo(const std::vector<Buffer>& buffers,
                             const char* what, size_t index, InputView values) {
  if (index >= buffers.size() || buffers[index].data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no ", what, " ", index, " to set"));
  }
  const Buffer& buffer = buffers[index];
  const absl::Status status =
      CheckValues(what, index, *buffer.spec, micro_batches_, values);
  if (!status.ok()) return status;
  std::memcpy(buffer.data, values.data(),
              static_cast<size_t>(SizeBytes(*buffer.spec) * micro_batches_));
  return absl::OkStatus();
}

absl::Status Manager::SetInput(size_t index, absl::Span<const float> values) {
  return CopyTo(inputs_, "input", index, values);
}
absl::Status Manager::SetInput(size_t index, absl::Span<const int32_t> values) {
  return CopyTo(inputs_, "input", index, values);
}
absl::Status Manager::SetLabel(absl::Span<const float> values) {
  return CopyTo(labels_, "label", 0, values);
}
absl::Status Manager::SetLabel(absl::Span<const int32_t> values) {
  return CopyTo(labels_, "label", 0, values);
}

absl::StatusOr<absl::Span<float>> Manager::FloatsOf(
    const std::vector<Buffer>& buffers, const char* what, size_t index) {
  if (index >= buffers.size() || buffers[index].data == nullptr ||
      buffers[index].spec->type != ValueType::kFloat32) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no ", what, " ", index, " of floats to fill"));
  }
  const Buffer& buffer = buffers[index];
  return absl::MakeSpan(
      reinterpret_cast<float*>(buffer.data),
      static_cast<size_t>(buffer.spec->shape.elements() * micro_batches_));
}

absl::StatusOr<absl::Span<float>> Manager::InputValues(size_t index) {
  return FloatsOf(inputs_, "input", index);
}
absl::StatusOr<absl::Span<float>> Manager::LabelValues() {
  return FloatsOf(labels_, "label", 0);
}

absl::StatusOr<float> Manager::TrainStep() {
  if (mode_ != NetworkMode::kTraining) {
    return absl::FailedPreconditionError("the plan is one for inference");
  }
  absl::Status status = EnsureArena();
  if (!status.ok()) return status;
  ++iteration_;
  double loss = 0;
  for (micro_batch_ = 0; micro_batch_ < micro_batches_; ++micro_batch_) {
    status = RunForward();
    if (!status.ok()) {
      RestoreStatistics();
      --iteration_;  // it did not happen
      return status;
    }
    loss += *loss_;
    status = RunSteps(loss_step_ + 1, steps_.size());
    if (!status.ok()) return status;
  }
  return static_cast<float>(loss / static_cast<double>(micro_batches_));
}

absl::Status Manager::RunForward() {
  const absl::Status status = RunSteps(0, loss_step_ + 1);
  if (!status.ok() || std::isfinite(*loss_)) return status;
  RestoreStatistics();
  return ExplainLoss(*loss_);
}

// Runs no check: copies are made before anything can fail.
void Manager::RestoreStatistics() {
  const size_t restore = loss_step_ + 1;
  if (restore >= steps_.size() ||
      steps_[restore].kind != StepKind::kRestoreStatistics) {
    return;
  }
  const Slots slots = SlotsOf(steps_[restore]);
  const StepData data(slots, mode_, /*seed=*/0, *math_);
  CopyStatistics(data, Role::kSaved, Role::kStatistic);
}

absl::Status Manager::Lend(size_t index, InputView values) {
  const TensorType& spec = *inputs_[index].spec;
  const absl::Status status = CheckValues("input", index, spec, 1, values);
  if (!status.ok()) return status;
  user_inputs_[index].data = values.data();
  if (options_.watch_inputs) {
    user_inputs_[index].fingerprint =
        Fingerprint(values.data(), SizeBytes(spec));
  }
  return absl::OkStatus();
}

absl::Status Manager::Infer(absl::Span<const InputView> inputs) {
  if (mode_ != NetworkMode::kInference || inputs.size() != inputs_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an inference with ", inputs.size(), " inputs, but the plan is for ",
        mode_ == NetworkMode::kInference ? "" : "training with ",
        inputs_.size()));
  }
  absl::Status status;
  for (size_t i = 0; status.ok() && i < inputs.size(); ++i) {
    status = Lend(i, inputs[i]);
  }
  if (status.ok()) status = EnsureArena();
  if (!status.ok()) return status;
  status = RunSteps(0, steps_.size());
  if (!options_.retain_arena) ReleaseArena();
  return status;
}

absl::StatusOr<absl::Span<const float>> Manager::Output(size_t index) const {
  if (index >= outputs_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no output ", index, " is kept; there are ", outputs_.size()));
  }
  const Buffer& buffer = outputs_[index];
  return absl::MakeConstSpan(
      reinterpret_cast<const float*>(buffer.data),
      static_cast<size_t>(buffer.spec->shape.elements()));
}

absl::Status Manager::EnsureArena() {
  if (arena_.size_bytes() == arena_size_bytes_) return absl::OkStatus();
  absl::StatusOr<MemoryBlock> arena = MemoryBlock::Allocate(arena_size_bytes_);
  if (!arena.ok()) return arena.status();
  arena_ = *std::move(arena);
  return absl::OkStatus();
}

void Manager::ReleaseArena() { MemoryBlock released = std::move(arena_); }

absl::Status Manager::RunSteps(size_t begin, size_t end) {
  if (watch_ != nullptr && begin == 0) {
    watch_->Begin(arena_.data(), arena_.size_bytes());
  }
  for (size_t s = begin; s < end; ++s) {
    const absl::Status status = RunStep(s);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Manager::RunStep(size_t index) {
  const Step& step = steps_[index];
  const Slots slots = SlotsOf(step);
  const StepData data(slots, mode_, SeedOf(step.layer), *math_);
  absl::Status status;
  if (watch_ != nullptr) status = watch_->CheckRead(step.first_use, slots);
  if (status.ok()) status = RunKind(step, slots, data);
  if (status.ok() && watch_ != nullptr &&
      step.kind != StepKind::kCopyStatistics) {
    status = CheckFinite(slots, /*written=*/true);
  }
  if (!status.ok()) return InLayer(step, status);
  if (watch_ != nullptr) {
    watch_->MarkWritten(step.first_use, slots);
    watch_->PoisonAfter(index, arena_.data());
  }
  return options_.watch_inputs ? CheckInputsUnchanged(step) : absl::OkStatus();
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
      if (IsLastMicroBatch()) ClipGradients(data, options_.clip_norm);
      break;
    case StepKind::kApplyGradient:
      if (!IsLastMicroBatch()) break;
      ApplyGradients(data, *options_.optimizer, options_.clip_value,
                     iteration_);
      break;
    case StepKind::kCopyStatistics:
      if (micro_batch_ > 0) break;
      CopyStatistics(data, Role::kStatistic, Role::kSaved);
      break;
    case StepKind::kRestoreStatistics:
      break;  // only where the loss is refused
  }
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

absl::Status Manager::CheckInputsUnchanged(const Step& step) const {
  for (uint32_t u = step.first_use; u < step.first_use + step.uses; ++u) {
    if (uses_[u].storage_class != StorageClass::kUser) continue;
    const size_t number = static_cast<size_t>(uses_[u].place);
    const UserInput& input = user_inputs_[number];
    if (Fingerprint(input.data, SizeBytes(*inputs_[number].spec)) !=
        input.fingerprint) {
      return absl::FailedPreconditionError(absl::StrCat(
          "input ", number, " changed before layer \"", NameOf(step.layer),
          "\" was done with it: keep the memory until Infer returns"));
    }
  }
  return absl::OkStatus();
}

// Runs forward once more, to see where the first NaN or infinity comes from.
absl::Status Manager::ExplainLoss(float loss) {
  for (size_t s = 0; s <= loss_step_; ++s) {
    const Step& step = steps_[s];
    const bool checked = step.kind != StepKind::kCopyStatistics;
    absl::Status status;
    if (checked) status = InLayer(step, CheckFinite(SlotsOf(step), false));
    if (status.ok()) status = RunStep(s);
    if (status.ok() && checked) {
      status = InLayer(step, CheckFinite(SlotsOf(step), true));
    }
    if (status.ok()) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("the loss is ", loss, "; first in ", status.message()));
  }
  return absl::OutOfRangeError(absl::StrCat("the loss is ", loss));
}

absl::Status Manager::InLayer(const Step& step,
                              const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("layer \"", NameOf(step.layer), "\", ",
                   StepKindName(step.kind), ": ", status.message()));
}

absl::string_view Manager::NameOf(size_t layer) const {
  const char* name = names_.data();
  for (; layer > 0; --layer) name += std::strlen(name) + 1;
  return name;
}

// Valid until the next call.
Manager::Slots Manager::SlotsOf(const Step& step) {
  for (uint32_t i = 0; i < step.uses; ++i) {
    const Use& use = uses_[step.first_use + i];
    StepData::Slot& slot = slots_[i];
    slot.operand = {use.role, use.index};
    slot.readable = use.readable;
    slot.writable = use.writable;
    slot.spec = &specs_[use.spec];
    if (use.storage_class == StorageClass::kArena) {
      slot.data = arena_.data() + use.place;
    } else if (use.storage_class == StorageClass::kUser) {
      // The layers are handed what they read as const.
      slot.data =
          const_cast<void*>(user_inputs_[static_cast<size_t>(use.place)].data);
    } else {
      slot.data =
          reinterpret_cast<char*>(use.place) +
          (use.by_micro_batch ? micro_batch_ * SizeBytes(*slot.spec) : 0);
    }
  }
  return absl::MakeConstSpan(slots_.data(), step.uses);
}

uint64_t Manager::SeedOf(size_t layer) const {
  return MixBits(
      options_.seed ^
      MixBits(static_cast<uint64_t>(iteration_) * 0x9e3779b97f4a7c15u +
              static_cast<uint64_t>(layer) +
              (static_cast<uint64_t>(micro_batch_) << 32)));
}

absl::StatusOr<absl::Span<const float>> Manager::Inspect(
    const ExecutionPlan& plan, absl::string_view name) const {
  if (PlanFingerprint(plan) != plan_fingerprint_) {
    return absl::InvalidArgumentError(
        "this is not the plan that the manager was created from");
  }
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan.tensors[t];
    if (tensor.name != name) continue;
    const StorageClass where = plan.storages[tensor.storage].storage_class;
    if (where == StorageClass::kUser ||
        (where == StorageClass::kArena &&
         (!tensor.kept || arena_.data() == nullptr)) ||
        tensor.spec.type != ValueType::kFloat32) {
      return absl::FailedPreconditionError(absl::StrCat(
          "tensor \"", name,
          "\" is not kept; plan with MemoryOptions::Debug to keep it"));
    }
    const absl::StatusOr<void*> data = Locate(plan, t);
    if (!data.ok()) return data.status();
    return absl::MakeConstSpan(
        static_cast<const float*>(*data),
        static_cast<size_t>(tensor.spec.shape.elements()));
  }
  return absl::NotFoundError(
      absl::StrCat("the plan has no tensor \"", name, "\""));
}

}  // namespace footprint
