// The steps that all gradients go through, whatever the layers: sum,
// accumulate, clip, prepare, apply.
//
//   footprint::AddTensors(data);  // output = input 0 + input 1
//
// Operands are those that the step declares (layer.h). Nothing is allocated
// except the text of an error. The functions change only what they write;
// thread-safe on different operands.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_STEPS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/runtime/group_optimizers.h"

namespace footprint {

// The output becomes the sum of inputs 0 and 1.
void AddTensors(const StepData& data);

// Adds input 0 times `weight` to the output; part 0 overwrites it. The last of
// `parts` divides it by `parts`, so that it is the mean, like the loss. The
// weights' mean is 1.
void AccumulateGradient(const StepData& data, int64_t part, int64_t parts,
                        float weight = 1);

// Scales all gradients so that the square root of the sum of all squares is at
// most `norm`. Returns false and writes nothing if a gradient is NaN or
// infinite.
bool ClipGradients(const StepData& data, float norm);

// Prepares ApplyGradients: cuts each gradient's values to within +-
// `clip_value`, unless that is infinite. Returns OutOfRange if a gradient is
// NaN or infinite, or if Optimizer::StaysFinite says that a weight or a state
// would become so; some gradients may be cut by then. Changes no weight.
absl::Status PrepareGradients(const StepData& data,
                              const WeightOptimizers& optimizers,
                              float clip_value, int64_t iteration);

// Changes the weights by their prepared gradients. Returns OutOfRange if an
// optimizer that does not foresee its values made a weight or a state NaN or
// infinite; the weights have changed by then.
absl::Status ApplyGradients(const StepData& data,
                            const WeightOptimizers& optimizers,
                            int64_t iteration);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_GRADIENT_STEPS_H_
