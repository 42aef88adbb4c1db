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
  for (size_t s = 0; s < plan.storages.size(); ++s) {
    const Storage& storage = plan.storages[s];
    if (storage.storage_class != StorageClass::kArena) continue;
    regions_.push_back(
        {storage.upper_step, plan.offsets_bytes[s], storage.size_bytes});
  }
  for (const PlannedStep& step : plan.steps) {
    for (const TensorUse& use : step.uses) tensors_.push_back(use.tensor);
  }
  for (const size_t storage : plan.storage_of) {
    in_arena_.push_back(plan.storages[storage].storage_class ==
                        StorageClass::kArena);
  }
}

void LifespanChecker::Begin(char* arena, int64_t size_bytes) const {
  if (size_bytes == 0) return;
  std::memset(arena, kPoison, static_cast<size_t>(size_bytes));
}

absl::Status LifespanChecker::CheckRead(
    size_t first_use, absl::Span<const StepData::Slot> slots) const {
  for (size_t i = 0; i < slots.size(); ++i) {
    const size_t tensor = tensors_[first_use + i];
    if (!slots[i].readable || !in_arena_[tensor] ||
        ComputeFingerprint(slots[i]) == marks_[tensor]) {
      continue;
    }
    return absl::InternalError(absl::StrCat(
        RoleName(slots[i].operand.role), " ", slots[i].operand.index,
        " is not what was written: the plan gave its place to another tensor"));
  }
  return absl::OkStatus();
}

void LifespanChecker::MarkWritten(size_t first_use,
                                  absl::Span<const StepData::Slot> slots) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].writable) {
      marks_[tensors_[first_use + i]] = ComputeFingerprint(slots[i]);
    }
  }
}

void LifespanChecker::PoisonAfter(size_t step, char* arena) const {
  if (step + 1 == steps_) return;
  for (const Region& region : regions_) {
    if (region.upper_step != static_cast<int64_t>(step) + 1) continue;
    std::memset(arena + region.offset_bytes, kPoison,
                static_cast<size_t>(region.size_bytes));
  }
}

}  // namespace footprint
