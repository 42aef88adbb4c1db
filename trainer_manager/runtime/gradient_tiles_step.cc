#include "footprint/trainer_manager/runtime/gradient_tiles_step.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/runtime/gradient_steps.h"

namespace footprint {
namespace {

// An input, an output derivative and a workspace; a weight, a gradient and
// states of a matrix and a bias (CanTileGradient in
// execution/gradient_tiles.cc).
constexpr size_t kMostSlots = 3 + 2 * (2 + kMostOptimizerStates);

// The operands of a step for some rows of the matrix.
class TileSlots {
 public:
  // `states` is the number of optimizer states for each weight.
  TileSlots(absl::Span<const StepData::Slot> slots, const MatrixTile& rows,
            bool is_last, int states)
      : spec_{{rows.count(), FindMatrixGradient(slots).spec->shape.columns()}} {
    for (const StepData::Slot& slot : slots) {
      const bool is_updated = slot.operand.role == Role::kGradient ||
                              slot.operand.role == Role::kWeight ||
                              slot.operand.role == Role::kOptimizerState;
      if (!is_updated) {
        slots_[used_++] = slot;
      } else if (slot.operand.index <
                 (slot.operand.role == Role::kOptimizerState ? states : 1)) {
        AddRows(slot, rows);
      } else if (is_last) {
        AddUpdated(slot);
      }
    }
  }
  // The slots refer to this object's spec.
  TileSlots(const TileSlots&) = delete;
  TileSlots& operator=(const TileSlots&) = delete;

  static const StepData::Slot& FindMatrixGradient(
      absl::Span<const StepData::Slot> slots) {
    return *std::find_if(slots.begin(), slots.end(), [](const auto& slot) {
      return slot.operand == Operand{Role::kGradient, 0};
    });
  }

  absl::Span<const StepData::Slot> slots() const {
    return absl::MakeConstSpan(slots_.data(), used_);
  }

 private:
  // Adds the rows of a tensor of the matrix. The gradient has only these.
  void AddRows(const StepData::Slot& slot, const MatrixTile& rows) {
    AddUpdated(slot);
    StepData::Slot& added = slots_[used_ - 1];
    added.spec = &spec_;
    if (slot.operand.role == Role::kGradient) return;
    added.data =
        static_cast<float*>(slot.data) + rows.begin * spec_.shape.columns();
  }
  // Adds an operand that one part of the step writes and another reads.
  void AddUpdated(const StepData::Slot& slot) {
    slots_[used_] = slot;
    slots_[used_++].readable = true;
  }

  const TensorType spec_;
  std::array<StepData::Slot, kMostSlots> slots_;
  size_t used_ = 0;
};

}  // namespace

absl::Status ApplyGradientTiles(const Layer& layer,
                                absl::Span<const StepData::Slot> slots,
                                const StepData& data,
                                const WeightOptimizers& optimizers,
                                float clip_value, int64_t iteration,
                                bool* has_applied) {
  const int64_t tile_rows =
      TileSlots::FindMatrixGradient(slots).spec->shape.rows();
  const int64_t rows = data.shape(Role::kWeight, 0).rows();
  const int states = optimizers.At(0).states_per_weight();
  for (int64_t begin = 0; begin < rows; begin += tile_rows) {
    const MatrixTile tile = {begin, std::min(begin + tile_rows, rows)};
    const TileSlots of_tile(slots, tile, tile.end == rows, states);
    const StepData part(of_tile.slots(), data.mode(), data.seed(), data.math(),
                        data.name(), data.place());
    layer.CalculateGradientTile(part, tile);
    absl::Status status =
        PrepareGradients(part, optimizers, clip_value, iteration);
    if (status.ok()) {
      *has_applied = true;
      status = ApplyGradients(part, optimizers, iteration);
    }
    if (!status.ok()) {
      return absl::Status(
          status.code(), absl::StrCat("rows ", tile.begin, " to ", tile.end - 1,
                                      " of the matrix: ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace footprint
