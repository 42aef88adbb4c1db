// The steps that every network's gradients go through, whatever the layers:
// sum, accumulate, clip, prepare, apply.
//
//   footprint::AddTensors(data);  // output = input 0 + input 1
//
// Operands as the step declares them (layer.h); nothing asks the heap, but the
// text of an error. Pure but for what they write; thread-safe on different
// operands.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_STEPS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/runtime/group_optimizers.h"

namespace footprint {

// The output becomes the sum of inputs 0 and 1.
void AddTensors(const StepData& data);

// Adds input 0, times `weight`, to the output, which part 0 overwrites; the
// last of `parts` leaves their mean, as the loss is the mean of theirs. The
// weights' mean is 1.
void AccumulateGradient(const StepData& data, int64_t part, int64_t parts,
                        float weight = 1);

// Scales all gradients so that the square root of the sum of all squares is at
// most `norm`. False, and nothing is written: one is NaN or infinite.
bool ClipGradients(const StepData& data, float norm);

// The step before ApplyGradients: cuts each gradient's values to within
// +- `clip_value`. OutOfRange: a gradient is NaN or infinite, or a weight or a
// state that the optimizer keeps of it would become that. Changes no weight.
absl::Status PrepareGradients(const StepData& data,
                              const WeightOptimizers& optimizers,
                              float clip_value, int64_t iteration);

// Changes the weights by their gradients, which are prepared. OutOfRange: an
// optimizer that does not foresee its values made a weight, or what it
// remembers of it, NaN or infinite; they are changed then.
absl::Status ApplyGradients(const StepData& data,
                            const WeightOptimizers& optimizers,
                            int64_t iteration);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_STEPS_H_
