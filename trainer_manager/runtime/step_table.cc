#include "footprint/trainer_manager/runtime/step_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr size_t kMostOperands = std::numeric_limits<uint16_t>::max();
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

bool AreEqual(const TensorType& a, const TensorType& b) {
  return a.shape == b.shape && a.type == b.type;
}

// Returns the index of the type in the list, or the list's size if it is not
// there.
template <typename List>
size_t FindSpec(const List& specs, const TensorType& spec) {
  const auto is_equal = [&spec](const TensorType& s) {
    return AreEqual(s, spec);
  };
  return static_cast<size_t>(
      std::find_if(specs.begin(), specs.end(), is_equal) - specs.begin());
}

// Returns the number of an input in the caller's memory: inputs, then labels.
size_t NumberOfInput(const ExecutionPlan& plan, size_t storage) {
  size_t number = 0;
  for (const auto* list : {&plan.input_tensors, &plan.label_tensors}) {
    for (const size_t tensor : *list) {
      if (plan.storage_of[tensor] == storage) return number;
      ++number;
    }
  }
  return number;
}

// Returns the first step of the kind for the layer, or the number of steps if
// there is none.
uint32_t FindStep(const ExecutionPlan& plan, StepKind kind, size_t layer) {
  const auto is_it = [&](const PlannedStep& step) {
    return step.kind == kind && step.layer == layer;
  };
  return static_cast<uint32_t>(
      std::find_if(plan.steps.begin(), plan.steps.end(), is_it) -
      plan.steps.begin());
}

// Returns Step::other: for a sliced derivative the layer before, for a swap its
// piece (a swap out takes the next of `pieces`), for a recomputation the
// forward step, and for a forward step whether there is a recomputation. A step
// that reads weights takes the next of `reads`, and one that reads rows takes
// one of them for its table.
uint32_t AddOther(const ExecutionPlan& plan, const PlannedStep& step,
                  uint32_t* pieces, uint32_t* reads) {
  if (step.kind == StepKind::kSlicedDerivative) {
    return static_cast<uint32_t>(plan.network->layers[step.layer].inputs[0] -
                                 plan.network->inputs.size());
  }
  if (step.kind == StepKind::kRecompute) {
    return FindStep(plan, StepKind::kForward, step.layer);
  }
  if (step.kind == StepKind::kForward) {
    return FindStep(plan, StepKind::kRecompute, step.layer) < plan.steps.size()
               ? 1
               : 0;
  }
  if (step.kind == StepKind::kSwapOut) return (*pieces)++;
  if (step.kind == StepKind::kReadWeights) {
    return std::exchange(*reads,
                         *reads + static_cast<uint32_t>(step.uses.size()));
  }
  if (step.kind == StepKind::kReadRows) return (*reads)++;
  if (step.kind != StepKind::kSwapIn) return 0;
  uint32_t piece = 0;
  for (const PlannedStep& out : plan.steps) {
    if (out.kind != StepKind::kSwapOut) continue;
    if (out.file_offset_bytes == step.file_offset_bytes) break;
    ++piece;
  }
  return piece;
}

template <typename Record>
int64_t CountBytes(size_t count) {
  static_assert(std::is_trivially_destructible<Record>::value ||
                    std::is_same<Record, TensorType>::value,
                "a block runs no destructors");
  return static_cast<int64_t>(count * sizeof(Record));
}

// Creates records at `*next` and moves `*next` past them.
template <typename Record>
absl::Span<Record> Take(size_t count, char** next) {
  auto* const first = reinterpret_cast<Record*>(*next);
  std::uninitialized_value_construct_n(first, count);
  *next += CountBytes<Record>(count);
  return absl::MakeSpan(first, count);
}

}  // namespace

absl::StatusOr<float*> LocateParameter(const PlannedTensor& tensor,
                                       const Parameters& parameters) {
  for (const Parameters::Parameter& parameter : parameters.all()) {
    if (parameter.name != tensor.name) continue;
    if (parameter.shape == tensor.spec.shape) return parameter.values.data();
    return absl::InvalidArgumentError(
        absl::StrCat("parameter \"", tensor.name, "\" is of shape ",
                     parameter.shape.ToString(), ", but the network needs ",
                     tensor.spec.shape.ToString()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the model has no parameter \"", tensor.name, "\""));
}

struct StepTable::Draft {
  std::vector<TensorType> specs;
  std::vector<Address> addresses;
  std::vector<uint32_t> address_of;  // of each tensor that a step uses
  size_t uses = 0;
  size_t most_uses = 0;
  size_t name_bytes = 0;

  absl::Status Add(const ExecutionPlan& plan, const Parameters& parameters);
  absl::Status AddPlace(const ExecutionPlan& plan, size_t tensor,
                        const Parameters& parameters);
};

absl::Status StepTable::Draft::Add(const ExecutionPlan& plan,
                                   const Parameters& parameters) {
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network->layers) {
    name_bytes += std::strlen(layer.name.c_str()) + 1;
  }
  for (const PlannedTensor& tensor : plan.tensors) {
    if (FindSpec(specs, tensor.spec) == specs.size()) {
      specs.push_back(tensor.spec);
    }
  }
  address_of.assign(plan.tensors.size(), kNone);
  for (const PlannedStep& step : plan.steps) {
    if (step.uses.size() > kMostOperands) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a step of layer \"", plan.network->layers[step.layer].name,
          "\" has more than ", kMostOperands, " operands"));
    }
    uses += step.uses.size();
    most_uses = std::max(most_uses, step.uses.size());
    for (const TensorUse& use : step.uses) {
      const absl::Status status = AddPlace(plan, use.tensor, parameters);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status StepTable::Draft::AddPlace(const ExecutionPlan& plan,
                                        size_t tensor,
                                        const Parameters& parameters) {
  if (address_of[tensor] != kNone) return absl::OkStatus();
  const PlannedTensor& planned = plan.tensors[tensor];
  const Storage& storage = plan.StorageOfTensor(tensor);
  Address address;
  address.at = plan.OffsetOfTensor(tensor);
  address.spec = static_cast<uint32_t>(FindSpec(specs, planned.spec));
  address.storage_class = storage.storage_class;
  address.by_micro_batch =
      planned.kind == TensorKind::kInput || planned.kind == TensorKind::kLabel;
  if (storage.storage_class == StorageClass::kUser) {
    address.at =
        static_cast<int64_t>(NumberOfInput(plan, plan.storage_of[tensor]));
  } else if (storage.storage_class == StorageClass::kModel) {
    const absl::StatusOr<float*> data = LocateParameter(planned, parameters);
    if (!data.ok()) return data.status();
    address.at = reinterpret_cast<intptr_t>(*data);
  }
  // Tensors of one storage and shape have one address.
  for (const size_t other : storage.tensors) {
    const uint32_t known = address_of[other];
    if (known == kNone || addresses[known].spec != address.spec ||
        addresses[known].by_micro_batch != address.by_micro_batch) {
      continue;
    }
    address_of[tensor] = known;
    return absl::OkStatus();
  }
  address_of[tensor] = static_cast<uint32_t>(addresses.size());
  addresses.push_back(address);
  return absl::OkStatus();
}

absl::StatusOr<StepTable> StepTable::Create(const ExecutionPlan& plan,
                                            const Parameters& parameters) {
  Draft draft;
  absl::Status status = draft.Add(plan, parameters);
  StepTable table;
  if (status.ok()) status = table.Keep(plan, draft);
  if (!status.ok()) return status;
  return table;
}

absl::Status StepTable::Keep(const ExecutionPlan& plan, const Draft& draft) {
  absl::StatusOr<MemoryBlock> block = MemoryBlock::Allocate(
      plan.fixed_bytes, CountBytes<Step>(plan.steps.size()) +
                            CountBytes<Use>(draft.uses) +
                            CountBytes<Address>(draft.addresses.size()) +
                            CountBytes<TensorType>(draft.specs.size()) +
                            CountBytes<StepData::Slot>(draft.most_uses) +
                            CountBytes<char>(draft.name_bytes));
  if (!block.ok()) return block.status();
  block_ = *std::move(block);
  char* next = block_.records();
  // Each list but the last takes a multiple of 8 bytes.
  const auto steps = Take<Step>(plan.steps.size(), &next);
  const auto uses = Take<Use>(draft.uses, &next);
  const auto addresses = Take<Address>(draft.addresses.size(), &next);
  const auto specs = Take<TensorType>(draft.specs.size(), &next);
  slots_ = Take<StepData::Slot>(draft.most_uses, &next);
  std::copy(draft.addresses.begin(), draft.addresses.end(), addresses.begin());
  std::copy(draft.specs.begin(), draft.specs.end(), specs.begin());
  specs_ = {specs.data(), EndSpecs{specs.size()}};
  // Copies the names of the layers.
  names_ = next;
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network->layers) {
    // An error prints a name only up to its first 0.
    const size_t size = std::strlen(layer.name.c_str()) + 1;
    std::memcpy(next, layer.name.c_str(), size);
    next += size;
  }
  // Writes the steps and their uses.
  uint32_t used = 0;
  uint32_t pieces = 0;
  uint32_t reads = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    const PlannedStep& step = plan.steps[s];
    steps[s] = {static_cast<uint32_t>(step.layer),
                AddOther(plan, step, &pieces, &reads), used,
                static_cast<uint16_t>(step.uses.size()), step.kind};
    for (const TensorUse& use : step.uses) {
      uses[used++] = {draft.address_of[use.tensor],
                      static_cast<uint16_t>(use.operand.index),
                      use.operand.role, use.read, use.written};
    }
  }
  steps_ = steps;
  uses_ = uses;
  addresses_ = addresses;
  return absl::OkStatus();
}

absl::Span<const StepData::Slot> StepTable::SlotsAt(const Step& step,
                                                    const Memory& memory) {
  for (uint32_t i = 0; i < step.uses; ++i) {
    const Use& use = uses_[step.first_use + i];
    const Address& address = addresses_[use.address];
    StepData::Slot& slot = slots_[i];
    slot.operand = {use.role, use.index};
    slot.readable = use.readable;
    slot.writable = use.writable;
    slot.spec = &specs_[address.spec];
    switch (address.storage_class) {
      case StorageClass::kArena:
        slot.data = memory.arena + address.at;
        break;
      case StorageClass::kFixed:
        slot.data =
            block_.data() + address.at +
            (address.by_micro_batch ? memory.micro_batch * SizeBytes(*slot.spec)
                                    : 0);
        break;
      case StorageClass::kModel:
        slot.data = reinterpret_cast<void*>(static_cast<intptr_t>(address.at));
        break;
      case StorageClass::kUser:
        // Layers only read this memory, which they get as const.
        slot.data =
            const_cast<void*>(memory.inputs[static_cast<size_t>(address.at)]);
        break;
    }
  }
  return slots_.subspan(0, step.uses);
}

uint32_t StepTable::NumberSpec(const PlannedTensor& tensor) const {
  return static_cast<uint32_t>(FindSpec(specs(), tensor.spec));
}

}  // namespace footprint
