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
constexpr int kPoison = 0xff;  // four of them are a NaN

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// FNV-1a.
uint64_t Fingerprint(const void* data, int64_t size_bytes) {
  const unsigned char* bytes = static_cast<const unsigned char*>(data);
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < size_bytes; ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  return hash;
}

absl::Status InLayer(const std::string& name, StepKind kind,
                     const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("layer \"", name, "\", ", StepKindName(kind),
                                   ": ", status.message()));
}

// The place of the first value that is NaN or infinite, or -1.
int64_t FirstNotFinite(const StepData::Slot& slot) {
  if (slot.spec->type != ElementType::kFloat32) return -1;
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

  // The elements of `slot` from the first of the slice on, or, for memory of a
  // slice, from its start.
  void Add(const StepData::Slot& slot, Role as, bool read, bool whole_batch) {
    const TensorSpec& spec = *slot.spec;
    const int64_t element_bytes = SizeBytes(spec) / spec.shape.extent(0);
    specs_[used_] = spec;
    specs_[used_].shape.set_extent(0, count_);
    slots_[used_] = {{as},
                     read,
                     !read,
                     &specs_[used_],
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
  std::array<TensorSpec, kMostSlicedSlots> specs_;
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
    names_.push_back(layer.name);
  }
  layers_.shrink_to_fit();
  names_.shrink_to_fit();
  for (const PlannedTensor& tensor : plan.tensors) {
    if (FindSpec(tensor.spec) == nullptr) specs_.push_back(tensor.spec);
  }
  specs_.shrink_to_fit();  // from here on, its elements stay where they are
  size_t slots = 0;
  for (const PlannedStep& step : plan.steps) slots += step.uses.size();
  slots_.reserve(slots);
  steps_.reserve(plan.steps.size());
  for (const PlannedStep& step : plan.steps) {
    const std::vector<size_t>& inputs = plan.network.layers[step.layer].inputs;
    const size_t activation = step.kind == StepKind::kSlicedDerivative
                                  ? inputs[0] - plan.network.inputs.size()
                                  : 0;
    steps_.push_back({step.kind, static_cast<uint32_t>(step.layer),
                      static_cast<uint32_t>(activation),
                      static_cast<uint32_t>(slots_.size()),
                      static_cast<uint32_t>(step.uses.size())});
    if (step.kind == StepKind::kForward &&
        plan.network.layers[step.layer].is_loss()) {
      loss_step_ = steps_.size() - 1;
    }
    for (const TensorUse& use : step.uses) {
      const absl::Status status = AddSlot(plan, use);
      if (!status.ok()) return status;
    }
  }
  arena_slots_.shrink_to_fit();
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
  if (!options_.poison) return absl::OkStatus();
  for (const size_t s : plan.arena_storages) {
    const Storage& storage = plan.storages[s];
    regions_.push_back(
        {storage.upper_step, storage.offset_bytes, storage.size_bytes});
  }
  return absl::OkStatus();
}

const TensorSpec* Manager::FindSpec(const TensorSpec& spec) const {
  for (const TensorSpec& known : specs_) {
    if (known.shape == spec.shape && known.type == spec.type) return &known;
  }
  return nullptr;
}

absl::Status Manager::AddSlot(const ExecutionPlan& plan, const TensorUse& use) {
  const Storage& storage = plan.storages[plan.tensors[use.tensor].storage];
  const uint32_t index = static_cast<uint32_t>(slots_.size());
  StepData::Slot slot;
  slot.operand = use.operand;
  slot.readable = use.read;
  slot.writable = use.written;
  slot.spec = FindSpec(plan.tensors[use.tensor].spec);
  if (storage.storage_class == StorageClass::kArena) {
    arena_slots_.push_back({index, storage.offset_bytes});
  } else if (storage.storage_class == StorageClass::kUser) {
    for (size_t i = 0; i < plan.input_tensors.size(); ++i) {
      if (plan.tensors[plan.input_tensors[i]].storage ==
          plan.tensors[use.tensor].storage) {
        user_slots_.push_back({index, static_cast<uint32_t>(i)});
      }
    }
  } else {
    const absl::StatusOr<void*> data = Locate(plan, use.tensor);
    if (!data.ok()) return data.status();
    slot.data = *data;
  }
  slots_.push_back(slot);
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
  return {FindSpec(plan.tensors[tensor].spec),
          fixed ? fixed_.data() + storage.offset_bytes : nullptr};
}

absl::Status Manager::CopyTo(const std::vector<Buffer>& buffers,
                             const char* what, size_t index, ElementType type,
                             const void* values, size_t count) {
  if (index >= buffers.size() || buffers[index].data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no ", what, " ", index, " to set"));
  }
  const Buffer& buffer = buffers[index];
  const int64_t elements = buffer.spec->shape.elements();
  if (buffer.spec->type != type || static_cast<int64_t>(count) != elements) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, " ", index, " takes ", elements,
        buffer.spec->type == ElementType::kInt32 ? " int32" : " float",
        " values of shape ", buffer.spec->shape.ToString(), ", not ", count,
        type == ElementType::kInt32 ? " int32" : " float"));
  }
  std::memcpy(buffer.data, values,
              static_cast<size_t>(SizeBytes(*buffer.spec)));
  return absl::OkStatus();
}

absl::Status Manager::SetInput(size_t index, absl::Span<const float> values) {
  return CopyTo(inputs_, "input", index, ElementType::kFloat32, values.data(),
                values.size());
}
absl::Status Manager::SetInput(size_t index, absl::Span<const int32_t> values) {
  return CopyTo(inputs_, "input", index, ElementType::kInt32, values.data(),
                values.size());
}
absl::Status Manager::SetLabel(absl::Span<const float> values) {
  return CopyTo(labels_, "label", 0, ElementType::kFloat32, values.data(),
                values.size());
}
absl::Status Manager::SetLabel(absl::Span<const int32_t> values) {
  return CopyTo(labels_, "label", 0, ElementType::kInt32, values.data(),
                values.size());
}

absl::StatusOr<float> Manager::TrainStep() {
  if (mode_ != NetworkMode::kTraining) {
    return absl::FailedPreconditionError("the plan is one for inference");
  }
  absl::Status status = EnsureArena();
  if (!status.ok()) return status;
  ++iteration_;
  status = RunSteps(0, loss_step_ + 1);
  if (status.ok() && !std::isfinite(*loss_)) status = ExplainLoss(*loss_);
  if (!status.ok()) {
    --iteration_;  // it did not happen
    return status;
  }
  const float loss = *loss_;
  status = RunSteps(loss_step_ + 1, steps_.size());
  if (!status.ok()) return status;
  return loss;
}

absl::Status Manager::Lend(size_t index, ElementType type, const void* values,
                           size_t count) {
  const TensorSpec& spec = *inputs_[index].spec;
  if (spec.type != type ||
      static_cast<int64_t>(count) != spec.shape.elements() ||
      values == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", index, " takes ", spec.shape.elements(),
                     spec.type == ElementType::kInt32 ? " int32" : " float",
                     " values of shape ", spec.shape.ToString(), ", not ",
                     count, type == ElementType::kInt32 ? " int32" : " float"));
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
        Lend(i, ElementType::kFloat32, inputs[i].data(), inputs[i].size());
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
        Lend(i, ElementType::kInt32, inputs[i].data(), inputs[i].size());
    if (!status.ok()) return status;
  }
  return InferLent();
}

absl::Status Manager::InferLent() {
  absl::Status status = EnsureArena();
  if (!status.ok()) return status;
  // The layers are handed what they read as const.
  for (const UserSlot& slot : user_slots_) {
    slots_[slot.slot].data = const_cast<void*>(user_inputs_[slot.input].data);
  }
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
  for (const ArenaSlot& slot : arena_slots_) {
    slots_[slot.slot].data = arena_.data() + slot.offset_bytes;
  }
  return absl::OkStatus();
}

void Manager::ReleaseArena() {
  MemoryBlock released = std::move(arena_);
  for (const ArenaSlot& slot : arena_slots_) slots_[slot.slot].data = nullptr;
}

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
  const StepData data(SlotsOf(step), mode_, SeedOf(step.layer), *math_);
  absl::Status status = RunKind(step, data);
  if (!status.ok()) return InLayer(names_[step.layer], step.kind, status);
  if (options_.watch_inputs) status = CheckInputsUnchanged(step);
  if (status.ok() && options_.poison) {
    status = CheckFinite(step, /*written=*/true);
    Poison(index);
  }
  return status;
}

absl::Status Manager::RunKind(const Step& step, const StepData& data) const {
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
      CalculateSlices(step, data);
      break;
    case StepKind::kSumDerivatives: {
      const float* first = data.Read(Role::kInput, 0);
      const float* second = data.Read(Role::kInput, 1);
      float* sum = data.Write(Role::kOutput);
      const int64_t elements = data.elements(Role::kOutput);
      for (int64_t i = 0; i < elements; ++i) sum[i] = first[i] + second[i];
      break;
    }
    case StepKind::kApplyGradient:
      ApplyGradients(data);
      break;
  }
  return absl::OkStatus();
}

void Manager::ApplyGradients(const StepData& data) const {
  const int count = options_.optimizer->states_per_weight();
  std::array<float*, kMostOptimizerStates> states = {};
  for (int i = 0; data.Has(Role::kGradient, i); ++i) {
    for (int j = 0; j < count; ++j) {
      states[static_cast<size_t>(j)] =
          data.Write(Role::kOptimizerState, i * count + j);
    }
    options_.optimizer->Apply(
        iteration_, data.elements(Role::kGradient, i),
        data.Read(Role::kGradient, i), data.Write(Role::kWeight, i),
        absl::MakeConstSpan(states.data(), static_cast<size_t>(count)));
  }
}

// The layer writes a slice of its derivative into the slice's own memory; the
// activation takes it from there to the place of its output.
void Manager::CalculateSlices(const Step& step, const StepData& data) const {
  const int64_t batch = data.shape(Role::kInputDerivative).extent(0);
  const int64_t most = data.shape(Role::kSlice).extent(0);
  for (int64_t begin = 0; begin < batch; begin += most) {
    SlicedSlots layer(begin, std::min(most, batch - begin));
    SlicedSlots activation(begin, std::min(most, batch - begin));
    for (const StepData::Slot& slot : SlotsOf(step)) {
      switch (slot.operand.role) {
        case Role::kSlice:
          layer.Add(slot, Role::kInputDerivative, false, false);
          activation.Add(slot, Role::kOutputDerivative, true, false);
          break;
        case Role::kOutputDerivative:
          layer.Add(slot, Role::kOutputDerivative, true, true);
          break;
        case Role::kInput:
          activation.Add(slot, Role::kOutput, true, true);
          break;
        case Role::kInputDerivative:
          activation.Add(slot, Role::kInputDerivative, false, true);
          break;
        default:
          layer.AddWhole(slot);
          break;
      }
    }
    layers_[step.layer]->CalculateDerivative(
        {layer.slots(), mode_, data.seed(), *math_});
    layers_[step.activation]->CalculateDerivative(
        {activation.slots(), mode_, data.seed(), *math_});
  }
}

absl::Status Manager::CheckInputsUnchanged(const Step& step) const {
  for (const UserSlot& slot : user_slots_) {
    if (slot.slot < step.first_slot ||
        slot.slot >= step.first_slot + step.slots) {
      continue;
    }
    const UserInput& input = user_inputs_[slot.input];
    if (Fingerprint(input.data, SizeBytes(*inputs_[slot.input].spec)) !=
        input.fingerprint) {
      return absl::FailedPreconditionError(absl::StrCat(
          "input ", slot.input, " changed before layer \"", names_[step.layer],
          "\" was done with it: keep the memory until Infer returns"));
    }
  }
  return absl::OkStatus();
}

absl::Status Manager::CheckFinite(const Step& step, bool written) const {
  for (const StepData::Slot& slot : SlotsOf(step)) {
    const bool checked = written ? slot.writable &&
                                       slot.operand.role != Role::kWorkspace &&
                                       slot.operand.role != Role::kSlice
                                 : slot.readable;
    if (!checked) continue;
    const int64_t place = FirstNotFinite(slot);
    if (place < 0) continue;
    return absl::OutOfRangeError(absl::StrCat(
        "layer \"", names_[step.layer], "\", ", StepKindName(step.kind), ": ",
        RoleName(slot.operand.role), " ", slot.operand.index, " is ",
        static_cast<const float*>(slot.data)[place], " at place ", place));
  }
  return absl::OkStatus();
}

// Runs forward once more, to see where the first NaN or infinity comes from.
absl::Status Manager::ExplainLoss(float loss) {
  for (size_t s = 0; s <= loss_step_; ++s) {
    const Step& step = steps_[s];
    absl::Status status = CheckFinite(step, /*written=*/false);
    if (status.ok()) status = RunStep(s);
    if (status.ok()) status = CheckFinite(step, /*written=*/true);
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

absl::Span<const StepData::Slot> Manager::SlotsOf(const Step& step) const {
  return absl::MakeConstSpan(slots_.data() + step.first_slot, step.slots);
}

uint64_t Manager::SeedOf(size_t layer) const {
  return Mix(options_.seed ^
             Mix(static_cast<uint64_t>(iteration_) * 0x9e3779b97f4a7c15u +
                 static_cast<uint64_t>(layer)));
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
        tensor.spec.type != ElementType::kFloat32) {
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
