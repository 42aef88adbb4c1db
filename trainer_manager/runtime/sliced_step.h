// Calculates the derivative of a layer, through the activation before it, one
// slice of the batch at a time.
//
//   footprint::CalculateSlicedDerivative(layer, activation, slots, data);
//
// The layer writes a slice of its derivative into the slice's own memory. The
// activation reads it there, with its own output, which was kept or which the
// layer restores. Allocates and keeps nothing. Thread-safe on different
// operands.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_SLICED_STEP_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_SLICED_STEP_H_

#include "absl/types/span.h"
#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// `slots` are the operands of a StepKind::kSlicedDerivative; `data` holds the
// same operands with mode, seed and backend.
void CalculateSlicedDerivative(const Layer& layer, const Layer& activation,
                               absl::Span<const StepData::Slot> slots,
                               const StepData& data);

// Calculates the derivative of a layer slice by slice, and adds each slice to
// the derivative from other readers, if there are any. `slots` are the operands
// of a StepKind::kSlicedSum.
void CalculateSlicedSum(const Layer& layer,
                        absl::Span<const StepData::Slot> slots,
                        const StepData& data);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_SLICED_STEP_H_
