#include "footprint/trainer_manager/runtime/lifespan_checker.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/finite_values.h"

namespace footprint {
namespace {

constexpr int kPoison = 0xff;  // four of these bytes are a NaN

// Returns the index of the first value that is NaN or infinite, or -1.
int64_t FindFirstNotFinite(const StepData::Slot& slot) {
  if (slot.spec->type != DType::kF32) return -1;
  return FirstNotFinite(static_cast<const float*>(slot.data),
                        slot.spec->shape.elements());
}

uint64_t ComputeFingerprint(const StepData::Slot& slot) {
  return Fingerprint(slot.data, SizeBytes(*slot.spec));
}

}  // namespace

absl::Status CheckFinite(absl::Span<const StepData::Slot> slots, bool written) {
  for (const StepData::Slot& slot : slots) {
    const bool checked = written ? slot.writable &&
                                       slot.operand.role != Role::kWorkspace &&
                                       slot.operand.role != Role::kSlice
                                 : slot.readable;
    const int64_t index_of_value = checked ? FindFirstNotFinite(slot) : -1;
    if (index_of_value < 0) continue;
    return absl::OutOfRangeError(absl::StrCat(
        RoleName(slot.operand.role), " ", slot.operand.index, " is ",
        static_cast<const float*>(slot.data)[index_of_value], " at index ",
        index_of_value));
  }
  return absl::OkStatus();
}

LifespanChecker::LifespanChecker(const ExecutionPlan& plan)
    : steps_(plan.steps.size()), marks_(plan.tensors.size(), 0) {
  std::vector<size_t> regions(plan.storages.size(), plan.storages.size());
  for (size_t s = 0; s < plan.storages.size(); ++s) {
    const Storage& storage = plan.storages[s];
    if (storage.storage_class != StorageClass::kArena) continue;
    regions[s] = regions_.size();
    regions_.push_back({storage.upper_step, plan.offsets_bytes[s],
                        storage.size_bytes, /*held_bytes=*/0, /*mark=*/0});
  }
  for (const PlannedStep& step : plan.steps) {
    for (const TensorUse& use : step.uses) tensors_.push_back(use.tensor);
  }
  for (const size_t storage : plan.storage_of) {
    region_of_.push_back(regions[storage]);
  }
}

void LifespanChecker::Begin(char* arena, int64_t size_bytes) {
  for (Region& region : regions_) region.held_bytes = 0;
  if (size_bytes == 0) return;
  std::memset(arena, kPoison, static_cast<size_t>(size_bytes));
}

absl::Status LifespanChecker::CheckRead(
    size_t first_use, absl::Span<const StepData::Slot> slots) const {
  for (size_t i = 0; i < slots.size(); ++i) {
    const size_t tensor = tensors_[first_use + i];
    if (!slots[i].readable || !IsInArena(tensor) ||
        ComputeFingerprint(slots[i]) == marks_[tensor]) {
      continue;
    }
    return absl::InternalError(absl::StrCat(
        RoleName(slots[i].operand.role), " ", slots[i].operand.index,
        " is not what was written: the plan gave its place to another tensor"));
  }
  return absl::OkStatus();
}

bool LifespanChecker::Writes(size_t first_use,
                             absl::Span<const StepData::Slot> slots,
                             size_t region) const {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].writable && region_of_[tensors_[first_use + i]] == region) {
      return true;
    }
  }
  return false;
}

absl::Status LifespanChecker::CheckOthers(
    size_t first_use, absl::Span<const StepData::Slot> slots,
    const char* arena) const {
  for (size_t r = 0; r < regions_.size(); ++r) {
    const Region& region = regions_[r];
    if (region.held_bytes == 0 || Writes(first_use, slots, r) ||
        Fingerprint(arena + region.offset_bytes, region.held_bytes) ==
            region.mark) {
      continue;
    }
    return absl::InternalError(absl::StrCat(
        "the step changed a tensor that it does not write, ", region.held_bytes,
        " bytes from offset ", region.offset_bytes,
        " of the arena: mend a loop that runs too far, or one that writes what "
        "the signature only reads"));
  }
  return absl::OkStatus();
}

void LifespanChecker::MarkWritten(size_t first_use,
                                  absl::Span<const StepData::Slot> slots) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].writable) continue;
    const size_t tensor = tensors_[first_use + i];
    marks_[tensor] = ComputeFingerprint(slots[i]);
    if (!IsInArena(tensor)) continue;
    Region& region = regions_[region_of_[tensor]];
    region.held_bytes = SizeBytes(*slots[i].spec);
    region.mark = marks_[tensor];
  }
}

void LifespanChecker::PoisonAfter(size_t step, char* arena) {
  if (step + 1 == steps_) return;
  for (Region& region : regions_) {
    if (region.upper_step != static_cast<int64_t>(step) + 1) continue;
    region.held_bytes = 0;
    std::memset(arena + region.offset_bytes, kPoison,
                static_cast<size_t>(region.size_bytes));
  }
}

}  // namespace footprint
