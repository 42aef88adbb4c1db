#include "footprint/trainer_manager/step_table.h"

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

// Its number in the list; that of all if there is none like it.
template <typename List>
size_t FindSpec(const List& specs, const TensorType& spec) {
  const auto is_equal = [&spec](const TensorType& s) {
    return AreEqual(s, spec);
  };
  return static_cast<size_t>(
      std::find_if(specs.begin(), specs.end(), is_equal) - specs.begin());
}

size_t NumberOfInput(const ExecutionPlan& plan, size_t storage) {
  size_t number = 0;
  while (plan.tensors[plan.input_tensors[number]].storage != storage) {
    ++number;
  }
  return number;
}

template <typename Record>
size_t BytesOf(const std::vector<Record>& records) {
  static_assert(std::is_trivially_destructible<Record>::value,
                "a block runs no destructors");
  return records.size() * sizeof(Record);
}

// Copies records to `*to`, which then is behind them.
template <typename Record>
absl::Span<Record> Settle(const std::vector<Record>& records, char** to) {
  auto* const first = reinterpret_cast<Record*>(*to);
  std::uninitialized_copy(records.begin(), records.end(), first);
  *to += BytesOf(records);
  return absl::MakeSpan(first, records.size());
}

}  // namespace

absl::StatusOr<float*> LocateParameter(const PlannedTensor& tensor,
                                       const Parameters& parameters) {
  const absl::StatusOr<absl::Span<float>> values = parameters.Find(tensor.name);
  if (!values.ok()) {
    return absl::InvalidArgumentError(values.status().message());
  }
  if (static_cast<int64_t>(values->size()) != tensor.spec.shape.elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameter \"", tensor.name, "\" has ", values->size(),
        " values, but the network needs ", tensor.spec.shape.ToString()));
  }
  return values->data();
}

struct StepTable::Draft {
  std::vector<Step> steps;
  std::vector<Use> uses;
  std::vector<Place> places;
  std::vector<TensorType> specs;
  std::vector<char> names;
  std::vector<StepData::Slot> slots;
  std::vector<uint32_t> place_of;  // of each tensor, once known
  uint32_t pieces = 0;             // swapped out so far

  absl::Status Add(const ExecutionPlan& plan, const Parameters& parameters);
  absl::Status AddStep(const ExecutionPlan& plan, const PlannedStep& step,
                       const Parameters& parameters);
  uint32_t OtherOf(const ExecutionPlan& plan, const PlannedStep& step);
  absl::StatusOr<uint32_t> PlaceOf(const ExecutionPlan& plan, size_t tensor,
                                   const Parameters& parameters);
};

absl::Status StepTable::Draft::Add(const ExecutionPlan& plan,
                                   const Parameters& parameters) {
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network.layers) {
    // What an error prints of a name ends at its first 0.
    const char* const name = layer.name.c_str();
    names.insert(names.end(), name, name + std::strlen(name) + 1);
  }
  for (const PlannedTensor& tensor : plan.tensors) {
    if (FindSpec(specs, tensor.spec) == specs.size()) {
      specs.push_back(tensor.spec);
    }
  }
  place_of.assign(plan.tensors.size(), kNone);
  for (const PlannedStep& step : plan.steps) {
    const absl::Status status = AddStep(plan, step, parameters);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StepTable::Draft::AddStep(const ExecutionPlan& plan,
                                       const PlannedStep& step,
                                       const Parameters& parameters) {
  if (step.uses.size() > kMostOperands) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step of layer \"", plan.network.layers[step.layer].name,
                     "\" has more than ", kMostOperands, " operands"));
  }
  steps.push_back({static_cast<uint32_t>(step.layer), OtherOf(plan, step),
                   static_cast<uint32_t>(uses.size()),
                   static_cast<uint16_t>(step.uses.size()), step.kind});
  slots.resize(std::max(slots.size(), step.uses.size()));
  for (const TensorUse& use : step.uses) {
    const absl::StatusOr<uint32_t> place =
        PlaceOf(plan, use.tensor, parameters);
    if (!place.ok()) return place.status();
    uses.push_back({*place, static_cast<uint16_t>(use.operand.index),
                    use.operand.role, use.read, use.written});
  }
  return absl::OkStatus();
}

uint32_t StepTable::Draft::OtherOf(const ExecutionPlan& plan,
                                   const PlannedStep& step) {
  if (step.kind == StepKind::kSlicedDerivative) {
    return static_cast<uint32_t>(plan.network.layers[step.layer].inputs[0] -
                                 plan.network.inputs.size());
  }
  if (step.kind == StepKind::kSwapOut) return pieces++;
  if (step.kind != StepKind::kSwapIn) return 0;
  uint32_t piece = 0;
  for (const PlannedStep& out : plan.steps) {
    if (out.kind != StepKind::kSwapOut) continue;
    if (out.file_offset_bytes == step.file_offset_bytes) break;
    ++piece;
  }
  return piece;
}

absl::StatusOr<uint32_t> StepTable::Draft::PlaceOf(
    const ExecutionPlan& plan, size_t tensor, const Parameters& parameters) {
  if (place_of[tensor] != kNone) return place_of[tensor];
  const PlannedTensor& planned = plan.tensors[tensor];
  const Storage& storage = plan.storages[planned.storage];
  Place place;
  place.at = storage.offset_bytes;
  place.spec = static_cast<uint32_t>(FindSpec(specs, planned.spec));
  place.storage_class = storage.storage_class;
  place.by_micro_batch = plan.mode == NetworkMode::kTraining &&
                         (planned.kind == TensorKind::kInput ||
                          planned.kind == TensorKind::kLabel);
  if (storage.storage_class == StorageClass::kUser) {
    place.at = static_cast<int64_t>(NumberOfInput(plan, planned.storage));
  } else if (storage.storage_class == StorageClass::kModel) {
    const absl::StatusOr<float*> data = LocateParameter(planned, parameters);
    if (!data.ok()) return data.status();
    place.at = reinterpret_cast<intptr_t>(*data);
  }
  // Tensors of one storage and shape have one place.
  for (const size_t other : storage.tensors) {
    const uint32_t known = place_of[other];
    if (known == kNone || places[known].spec != place.spec ||
        places[known].by_micro_batch != place.by_micro_batch) {
      continue;
    }
    place_of[tensor] = known;
    return known;
  }
  place_of[tensor] = static_cast<uint32_t>(places.size());
  places.push_back(place);
  return place_of[tensor];
}

absl::StatusOr<StepTable> StepTable::Create(const ExecutionPlan& plan,
                                            const Parameters& parameters) {
  Draft draft;
  absl::Status status = draft.Add(plan, parameters);
  StepTable table;
  if (status.ok()) status = table.Keep(draft, plan.fixed_bytes);
  if (!status.ok()) return status;
  return table;
}

absl::Status StepTable::Keep(const Draft& draft, int64_t fixed_bytes) {
  absl::StatusOr<MemoryBlock> block = MemoryBlock::Allocate(
      fixed_bytes,
      static_cast<int64_t>(BytesOf(draft.steps) + BytesOf(draft.uses) +
                           BytesOf(draft.places) + BytesOf(draft.specs) +
                           BytesOf(draft.slots) + BytesOf(draft.names)));
  if (!block.ok()) return block.status();
  block_ = *std::move(block);
  char* next = block_.records();
  // Each but the last is a multiple of 8 bytes.
  steps_ = Settle(draft.steps, &next);
  uses_ = Settle(draft.uses, &next);
  places_ = Settle(draft.places, &next);
  specs_ = Settle(draft.specs, &next);
  slots_ = Settle(draft.slots, &next);
  names_ = Settle(draft.names, &next);
  return absl::OkStatus();
}

absl::Span<const StepData::Slot> StepTable::SlotsOf(const Step& step,
                                                    const Memory& memory) {
  for (uint32_t i = 0; i < step.uses; ++i) {
    const Use& use = uses_[step.first_use + i];
    const Place& place = places_[use.place];
    StepData::Slot& slot = slots_[i];
    slot.operand = {use.role, use.index};
    slot.readable = use.readable;
    slot.writable = use.writable;
    slot.spec = &specs_[place.spec];
    switch (place.storage_class) {
      case StorageClass::kArena:
        slot.data = memory.arena + place.at;
        break;
      case StorageClass::kFixed:
        slot.data =
            block_.data() + place.at +
            (place.by_micro_batch ? memory.micro_batch * SizeBytes(*slot.spec)
                                  : 0);
        break;
      case StorageClass::kModel:
        slot.data = reinterpret_cast<void*>(static_cast<intptr_t>(place.at));
        break;
      case StorageClass::kUser:
        // The layers are handed what they read as const.
        slot.data =
            const_cast<void*>(memory.inputs[static_cast<size_t>(place.at)]);
        break;
    }
  }
  return slots_.subspan(0, step.uses);
}

absl::string_view StepTable::NameOf(size_t layer) const {
  const char* name = names_.data();
  for (; layer > 0; --layer) name += std::strlen(name) + 1;
  return name;
}

const TensorType& StepTable::SpecOf(const PlannedTensor& tensor) const {
  return specs_[FindSpec(specs_, tensor.spec)];
}

}  // namespace footprint
