#include "footprint/trainer_manager/runtime/sliced_step.h"

#include <algorithm>
#include <array>

namespace footprint {
namespace {

// A sliced derivative reads at most 4 operands (HasSlices in recomputation.cc).
// The rest are its slice and workspaces.
constexpr size_t kMostSlicedSlots = 8;

// The operands of a step that works on one slice of the batch.
class SlicedSlots {
 public:
  SlicedSlots(int64_t begin, int64_t count) : begin_(begin), count_(count) {}
  // The slots refer to the specs of the same object.
  SlicedSlots(const SlicedSlots&) = delete;
  SlicedSlots& operator=(const SlicedSlots&) = delete;

  void AddWhole(const StepData::Slot& slot) { slots_[used_++] = slot; }

  // Adds the slice's part of `slot` as the operand `as`. A slot with kSlice has
  // memory for one slice only, so the part is at its beginning.
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

}  // namespace

void CalculateSlicedDerivative(const Layer& layer, const Layer& activation,
                               absl::Span<const StepData::Slot> slots,
                               const StepData& data) {
  const int64_t batch = data.shape(Role::kInputDerivative).extent(0);
  const int64_t most = data.shape(Role::kSlice).extent(0);
  for (int64_t begin = 0; begin < batch; begin += most) {
    const int64_t count = std::min(most, batch - begin);
    SlicedSlots derived(begin, count);
    SlicedSlots restored(begin, count);
    SlicedSlots activated(begin, count);
    // Divides the operands among the three calculations below. Slice 0 is the
    // derivative between the two layers. Slice 1 is the restored output of the
    // activation; without it, that output is the step's input.
    for (const StepData::Slot& slot : slots) {
      switch (slot.operand.role) {
        case Role::kSlice:
          if (slot.operand.index == 0) {
            derived.Add(slot, {Role::kInputDerivative}, false);
            activated.Add(slot, {Role::kOutputDerivative}, true);
          } else {
            restored.Add(slot, {Role::kInput}, false);
            activated.Add(slot, {Role::kOutput}, true);
          }
          break;
        case Role::kOutputDerivative:
          derived.Add(slot, slot.operand, true);
          break;
        case Role::kSaved:
          derived.Add(slot, slot.operand, true);
          restored.Add(slot, slot.operand, true);
          break;
        case Role::kOutput:
          restored.Add(slot, slot.operand, true);
          break;
        case Role::kInput:
          activated.Add(slot, {Role::kOutput}, true);
          break;
        case Role::kInputDerivative:
          activated.Add(slot, slot.operand, false);
          break;
        default:
          // Weights, statistics and workspaces have no part for the slice.
          derived.AddWhole(slot);
          break;
      }
    }
    // Runs the calculations on the slice.
    const auto of = [&](const SlicedSlots& sliced) {
      return StepData(sliced.slots(), data.mode(), data.seed(), data.math(),
                      data.name(), {data.place().micro_batch, begin, batch});
    };
    layer.CalculateDerivative(of(derived));
    if (data.Has(Role::kSlice, 1)) {
      layer.RestoreInput(of(restored));
    }
    activation.CalculateDerivative(of(activated));
  }
}

void CalculateSlicedSum(const Layer& layer,
                        absl::Span<const StepData::Slot> slots,
                        const StepData& data) {
  const int64_t batch = data.shape(Role::kInputDerivative).extent(0);
  const int64_t most = data.shape(Role::kSlice).extent(0);
  const int64_t element = data.elements(Role::kInputDerivative) / batch;
  // Input derivative 1 is the sum over the other readers of the input so far.
  const bool adds = data.Has(Role::kInputDerivative, 1);
  const float* slice = data.Write(Role::kSlice);
  for (int64_t begin = 0; begin < batch; begin += most) {
    const int64_t count = std::min(most, batch - begin);
    SlicedSlots derived(begin, count);
    // The layer writes its derivative into the slice, not into the sum.
    for (const StepData::Slot& slot : slots) {
      switch (slot.operand.role) {
        case Role::kSlice:
          derived.Add(slot, {Role::kInputDerivative}, false);
          break;
        case Role::kOutputDerivative:
        case Role::kSaved:
          derived.Add(slot, slot.operand, true);
          break;
        case Role::kInputDerivative:
          break;
        default:
          derived.AddWhole(slot);
          break;
      }
    }
    layer.CalculateDerivative(
        StepData(derived.slots(), data.mode(), data.seed(), data.math(),
                 data.name(), {data.place().micro_batch, begin, batch}));
    // Adds the slice to the sum.
    float* sum = data.Write(Role::kInputDerivative) + begin * element;
    const float* earlier =
        adds ? data.Read(Role::kInputDerivative, 1) + begin * element : nullptr;
    for (int64_t i = 0; i < count * element; ++i) {
      sum[i] = adds ? earlier[i] + slice[i] : slice[i];
    }
  }
}

}  // namespace footprint
