#include "footprint/trainer_manager/manager.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int kMostOptimizerStates = 4;
constexpr size_t kMostSlicedSlots = 8;
constexpr int kMost16Bits = 65535;
constexpr int kPoison = 0xff;  // four of them are a NaN

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// FNV-1a, by words of eight bytes as far as there are.
uint64_t Fingerprint(const void* data, int64_t size_bytes) {
  const char* bytes = static_cast<const char*>(data);
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < size_bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i,
                static_cast<size_t>(std::min<int64_t>(8, size_bytes - i)));
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;  // or high bits would reach no low one
  }
  return hash;
}

absl::Status InLayer(absl::string_view name, StepKind kind,
                     const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("layer \"", name, "\", ", StepKindName(kind),
                                   ": ", status.message()));
}

// The place of the first value that is NaN or infinite, or -1.
int64_t FirstNotFinite(const StepData::Slot& slot) {
  if (slot.spec->type != ValueType::kFloat32) return -1;
  const float* values = static_cast<const float*>(slot.data);
  const int64_t elements = slot.spec->shape.elements();
  for (int64_t i = 0; i < elements; ++i) {
    if (!std::isfinite(values[i])) return i;
  }
  return -1;
}

// The slots of a step on some elements of the batch.
class SlicedSlots {
 public:
  SlicedSlots(int64_t begin, int64_t count) : begin_(begin), count_(count) {}
  // The slots refer to the specs.
  SlicedSlots(const SlicedSlots&) = delete;
  SlicedSlots& operator=(const SlicedSlots&) = delete;

  void AddWhole(const StepData::Slot& slot) { slots_[used_++] = slot; }

  // The elements of `slot` from the first of the slice on, as operand `as`; of
  // memory of a slice, from its start.
  void Add(const StepData::Slot& slot, Operand as, bool read) {
    const bool whole_batch = slot.operand.role != Role::kSlice;
    const TensorType& spec = *slot.spec;
    const int64_t element_bytes = SizeBytes(spec) / spec.shape.extent(0);
    specs_[used_] = spec;
    specs_[used_].shape.set_extent(0, count_);
    slots_[used_] = {as, read, !read, &specs_[used_],
                     static_cast<char*>(slot.data) +
                         (whole_batch ? begin_ * element_bytes : 0)};
    ++used_;
  }

  absl::Span<const StepData::Slot> slots() const {
    return absl::MakeConstSpan(slots_.data(), used_);
  }

 private:
  const int64_t begin_;
  const int64_t count_;
  std::array<TensorType, kMostSlicedSlots> specs_;
  std::array<StepData::Slot, kMostSlicedSlots> slots_;
  size_t used_ = 0;
};

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
  for (const PlannedStep& step : plan.steps) {
    const std::vector<size_t>& inputs = plan.network.layers[step.layer].inputs;
    const size_t activation = step.kind == StepKind::kSlicedDerivative
                                  ? inputs[0] - plan.network.inputs.size()
                                  : 0;
    steps_.push_back({static_cast<uint32_t>(step.layer),
                      static_cast<uint32_t>(activation),
                      static_cast<uint32_t>(uses_.size()),
                      static_cast<uint16_t>(step.uses.size()), step.kind});
    if (step.kind == StepKind::kForward &&
        plan.network.layers[step.layer].is_loss()) {
      loss_step_ = steps_.size() - 1;
    }
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
  if (options_.poison) PreparePoison(plan);
  return absl::OkStatus();
}

void Manager::PreparePoison(const ExecutionPlan& plan) {
  for (const size_t s : plan.arena_storages) {
    const Storage& storage = plan.storages[s];
    regions_.push_back(
        {storage.upper_step, storage.offset_bytes, storage.size_bytes});
  }
  for (const PlannedStep& step : plan.steps) {
    for (const TensorUse& use : step.uses) use_tensors_.push_back(use.tensor);
  }
  marks_.assign(plan.tensors.size(), 0);
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
                             const char* what, size_t index, ValueType type,
                             const void* values, size_t count) {
  if (index >= buffers.size() || buffers[index].data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no ", what, " ", index, " to set"));
  }
  const Buffer& buffer = buffers[index];
  const int64_t elements = buffer.spec->shape.elements() * micro_batches_;
  if (buffer.spec->type != type || static_cast<int64_t>(count) != elements) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, " ", index, " takes ", elements,
        buffer.spec->type == ValueType::kInt32 ? " int32" : " float",
        " values of shape ", buffer.spec->shape.ToString(), ", not ", count,
        type == ValueType::kInt32 ? " int32" : " float"));
  }
  std::memcpy(buffer.data, values,
              static_cast<size_t>(SizeBytes(*buffer.spec) * micro_batches_));
  return absl::OkStatus();
}

absl::Status Manager::SetInput(size_t index, absl::Span<const float> values) {
  return CopyTo(inputs_, "input", index, ValueType::kFloat32, values.data(),
                values.size());
}
absl::Status Manager::SetInput(size_t index, absl::Span<const int32_t> values) {
  return CopyTo(inputs_, "input", index, ValueType::kInt32, values.data(),
                values.size());
}
absl::Status Manager::SetLabel(absl::Span<const float> values) {
  return CopyTo(labels_, "label", 0, ValueType::kFloat32, values.data(),
                values.size());
}
absl::Status Manager::SetLabel(absl::Span<const int32_t> values) {
  return CopyTo(labels_, "label", 0, ValueType::kInt32, values.data(),
                values.size());
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
    status = RunSteps(0, loss_step_ + 1);
    if (status.ok() && !std::isfinite(*loss_)) status = ExplainLoss(*loss_);
    if (!status.ok()) {
      --iteration_;  // it did not happen
      return status;
    }
    loss += *loss_;
    status = RunSteps(loss_step_ + 1, steps_.size());
    if (!status.ok()) return status;
  }
  return static_cast<float>(loss / static_cast<double>(micro_batches_));
}

absl::Status Manager::Lend(size_t index, ValueType type, const void* values,
                           size_t count) {
  const TensorType& spec = *inputs_[index].spec;
  if (spec.type != type ||
      static_cast<int64_t>(count) != spec.shape.elements() ||
      values == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", index, " takes ", spec.shape.elements(),
                     spec.type == ValueType::kInt32 ? " int32" : " float",
                     " values of shape ", spec.shape.ToString(), ", not ",
                     count, type == ValueType::kInt32 ? " int32" : " float"));
  }
  user_inputs_[index].data = values;
  if (options_.watch_inputs) {
    user_inputs_[index].fingerprint = Fingerprint(values, SizeBytes(spec));
  }
  return absl::OkStatus();
}

absl::Status Manager::Infer(absl::Span<const absl::Span<const float>> inputs) {
  if (mode_ != NetworkMode::kInference || inputs.size() != inputs_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an inference with ", inputs.size(), " inputs, but the plan is for ",
        mode_ == NetworkMode::kInference ? "" : "training with ",
        inputs_.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const absl::Status status =
        Lend(i, ValueType::kFloat32, inputs[i].data(), inputs[i].size());
    if (!status.ok()) return status;
  }
  return InferLent();
}

absl::Status Manager::InferIndices(
    absl::Span<const absl::Span<const int32_t>> inputs) {
  if (mode_ != NetworkMode::kInference || inputs.size() != inputs_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an inference with ", inputs.size(), " inputs, but the plan is for ",
        mode_ == NetworkMode::kInference ? "" : "training with ",
        inputs_.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const absl::Status status =
        Lend(i, ValueType::kInt32, inputs[i].data(), inputs[i].size());
    if (!status.ok()) return status;
  }
  return InferLent();
}

absl::Status Manager::InferLent() {
  absl::Status status = EnsureArena();
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
  if (options_.poison && begin == 0 && arena_.data() != nullptr) {
    std::memset(arena_.data(), kPoison,
                static_cast<size_t>(arena_.size_bytes()));
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
  if (options_.poison) status = CheckUnchanged(step, slots);
  if (status.ok()) status = RunKind(step, slots, data);
  if (!status.ok()) return InLayer(NameOf(step.layer), step.kind, status);
  if (options_.watch_inputs) status = CheckInputsUnchanged(step);
  if (status.ok() && options_.poison) {
    status = CheckFinite(step, slots, /*written=*/true);
    MarkWritten(step, slots);
    Poison(index);
  }
  return status;
}

absl::Status Manager::RunKind(const Step& step, Slots slots,
                              const StepData& data) const {
  const Layer& layer = *layers_[step.layer];
  switch (step.kind) {
    case StepKind::kForward:
      return layer.Forward(data);
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
      CalculateSlices(step, slots, data);
      break;
    case StepKind::kRecompute:
      return layer.Recompute(data);
    case StepKind::kSumDerivatives:
    case StepKind::kSumGradients: {
      const float* first = data.Read(Role::kInput, 0);
      const float* second = data.Read(Role::kInput, 1);
      float* sum = data.Write(Role::kOutput);
      const int64_t elements = data.elements(Role::kOutput);
      for (int64_t i = 0; i < elements; ++i) sum[i] = first[i] + second[i];
      break;
    }
    case StepKind::kAccumulateGradient:
      Accumulate(data);
      break;
    case StepKind::kClipGradients:
      if (IsLastMicroBatch()) ClipGradients(data);
      break;
    case StepKind::kApplyGradient:
      if (IsLastMicroBatch()) ApplyGradients(data);
      break;
  }
  return absl::OkStatus();
}

bool Manager::IsLastMicroBatch() const {
  return micro_batch_ + 1 == micro_batches_;
}

// The loss is the mean of those of the micro-batches, so its gradient is the
// mean of theirs.
void Manager::Accumulate(const StepData& data) const {
  const int64_t elements = data.elements(Role::kInput);
  const float* gradient = data.Read(Role::kInput);
  float* sum = data.Write(Role::kOutput);
  const float share =
      IsLastMicroBatch() ? 1.0f / static_cast<float>(micro_batches_) : 1.0f;
  for (int64_t i = 0; i < elements; ++i) {
    sum[i] = (micro_batch_ == 0 ? gradient[i] : sum[i] + gradient[i]) * share;
  }
}

void Manager::ApplyGradients(const StepData& data) const {
  const int count = options_.optimizer->states_per_weight();
  std::array<float*, kMostOptimizerStates> states = {};
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    for (int j = 0; j < count; ++j) {
      states[static_cast<size_t>(j)] =
          data.Write(Role::kOptimizerState, i * count + j);
    }
    const int64_t elements = data.elements(Role::kGradient, i);
    if (std::isfinite(options_.clip_value)) {
      float* gradient = data.Write(Role::kGradient, i);
      for (int64_t e = 0; e < elements; ++e) {
        gradient[e] = std::min(std::max(gradient[e], -options_.clip_value),
                               options_.clip_value);
      }
    }
    options_.optimizer->Apply(
        iteration_, elements, data.Read(Role::kGradient, i),
        data.Write(Role::kWeight, i),
        absl::MakeConstSpan(states.data(), static_cast<size_t>(count)));
  }
}

void Manager::ClipGradients(const StepData& data) const {
  double squares = 0;
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    const float* gradient = data.Read(Role::kGradient, i);
    const int64_t elements = data.elements(Role::kGradient, i);
    for (int64_t e = 0; e < elements; ++e) {
      squares += static_cast<double>(gradient[e]) * gradient[e];
    }
  }
  const double norm = std::sqrt(squares);
  if (!(norm > options_.clip_norm)) return;
  const float scale = static_cast<float>(options_.clip_norm / norm);
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    float* gradient = data.Write(Role::kGradient, i);
    const int64_t elements = data.elements(Role::kGradient, i);
    for (int64_t e = 0; e < elements; ++e) gradient[e] *= scale;
  }
}

// The layer writes a slice of its derivative into the slice's own memory; the
// activation takes it from there, with its output as it was kept or as the
// layer restores it.
void Manager::CalculateSlices(const Step& step, Slots slots,
                              const StepData& data) const {
  const int64_t batch = data.shape(Role::kInputDerivative).extent(0);
  const int64_t most = data.shape(Role::kSlice).extent(0);
  for (int64_t begin = 0; begin < batch; begin += most) {
    const int64_t count = std::min(most, batch - begin);
    SlicedSlots layer(begin, count);
    SlicedSlots restored(begin, count);
    SlicedSlots activation(begin, count);
    for (const StepData::Slot& slot : slots) {
      switch (slot.operand.role) {
        case Role::kSlice:
          if (slot.operand.index == 0) {
            layer.Add(slot, {Role::kInputDerivative}, false);
            activation.Add(slot, {Role::kOutputDerivative}, true);
          } else {
            restored.Add(slot, {Role::kInput}, false);
            activation.Add(slot, {Role::kOutput}, true);
          }
          break;
        case Role::kOutputDerivative:
          layer.Add(slot, slot.operand, true);
          break;
        case Role::kSaved:
          layer.Add(slot, slot.operand, true);
          restored.Add(slot, slot.operand, true);
          break;
        case Role::kOutput:
          restored.Add(slot, slot.operand, true);
          break;
        case Role::kInput:
          activation.Add(slot, {Role::kOutput}, true);
          break;
        case Role::kInputDerivative:
          activation.Add(slot, slot.operand, false);
          break;
        default:
          layer.AddWhole(slot);
          break;
      }
    }
    const Layer& sliced = *layers_[step.layer];
    sliced.CalculateDerivative({layer.slots(), mode_, data.seed(), *math_});
    if (data.Has(Role::kSlice, 1)) {
      sliced.RestoreInput({restored.slots(), mode_, data.seed(), *math_});
    }
    layers_[step.activation]->CalculateDerivative(
        {activation.slots(), mode_, data.seed(), *math_});
  }
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

// Whether a step reads of each planned tensor what was written to it.
absl::Status Manager::CheckUnchanged(const Step& step, Slots slots) const {
  for (size_t i = 0; i < slots.size(); ++i) {
    const StepData::Slot& slot = slots[i];
    if (!slot.readable ||
        uses_[step.first_use + i].storage_class != StorageClass::kArena ||
        Fingerprint(slot.data, SizeBytes(*slot.spec)) ==
            marks_[use_tensors_[step.first_use + i]]) {
      continue;
    }
    return absl::InternalError(absl::StrCat(
        RoleName(slot.operand.role), " ", slot.operand.index,
        " is not what was written: the plan gave its place to another tensor"));
  }
  return absl::OkStatus();
}

void Manager::MarkWritten(const Step& step, Slots slots) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].writable) continue;
    marks_[use_tensors_[step.first_use + i]] =
        Fingerprint(slots[i].data, SizeBytes(*slots[i].spec));
  }
}

absl::Status Manager::CheckFinite(const Step& step, Slots slots,
                                  bool written) const {
  for (const StepData::Slot& slot : slots) {
    const bool checked = written ? slot.writable &&
                                       slot.operand.role != Role::kWorkspace &&
                                       slot.operand.role != Role::kSlice
                                 : slot.readable;
    if (!checked) continue;
    const int64_t place = FirstNotFinite(slot);
    if (place < 0) continue;
    return absl::OutOfRangeError(absl::StrCat(
        "layer \"", NameOf(step.layer), "\", ", StepKindName(step.kind), ": ",
        RoleName(slot.operand.role), " ", slot.operand.index, " is ",
        static_cast<const float*>(slot.data)[place], " at place ", place));
  }
  return absl::OkStatus();
}

// Runs forward once more, to see where the first NaN or infinity comes from.
absl::Status Manager::ExplainLoss(float loss) {
  for (size_t s = 0; s <= loss_step_; ++s) {
    const Step& step = steps_[s];
    absl::Status status = CheckFinite(step, SlotsOf(step), /*written=*/false);
    if (status.ok()) status = RunStep(s);
    if (status.ok()) {
      status = CheckFinite(step, SlotsOf(step), /*written=*/true);
    }
    if (status.ok()) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("the loss is ", loss, "; first in ", status.message()));
  }
  return absl::OutOfRangeError(absl::StrCat("the loss is ", loss));
}

void Manager::Poison(size_t index) {
  for (const Region& region : regions_) {
    if (region.upper_step != static_cast<int64_t>(index) + 1 ||
        index + 1 == steps_.size()) {
      continue;
    }
    std::memset(arena_.data() + region.offset_bytes, kPoison,
                static_cast<size_t>(region.size_bytes));
  }
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
  return Mix(options_.seed ^
             Mix(static_cast<uint64_t>(iteration_) * 0x9e3779b97f4a7c15u +
                 static_cast<uint64_t>(layer) +
                 (static_cast<uint64_t>(micro_batch_) << 32)));
}

absl::StatusOr<absl::Span<const float>> Manager::Inspect(
    const ExecutionPlan& plan, absl::string_view name) const {
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
