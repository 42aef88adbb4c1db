// Calculates and applies a layer's gradients some rows of its matrix at a time.
//
//   bool has_applied = false;
//   status = ApplyGradientTiles(*layer, slots, data, optimizers, clip_value,
//                               iteration, &has_applied);
//
// Operands are those of StepKind::kApplyGradientTiles: gradient 0 has the rows
// of the first tile, and weight 0 and its states all rows. Nothing is allocated
// except the text of an error. Thread-safe on different operands.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_TILES_STEP_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_TILES_STEP_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/runtime/group_optimizers.h"

namespace footprint {

// Sets `*has_applied` once a weight has changed. `data` has the slots. Errors
// are those of PrepareGradients and ApplyGradients (gradient_steps.h), with the
// rows of the matrix; the rows before them have changed by then.
absl::Status ApplyGradientTiles(const Layer& layer,
                                absl::Span<const StepData::Slot> slots,
                                const StepData& data,
                                const WeightOptimizers& optimizers,
                                float clip_value, int64_t iteration,
                                bool* has_applied);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_TILES_STEP_H_
