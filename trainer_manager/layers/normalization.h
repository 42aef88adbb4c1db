// Layers that normalise values to mean 0 and variance 1, then scale and shift
// them by trained weights.
//
//   network.AddLayer("bn", footprint::BatchNormalization(), {"conv"});
//
// Weights are "scale" and "shift". See layer.h for ownership and thread-safety.
// Memory: both keep their input and two floats for each mean; in inference both
// may write in place.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_NORMALIZATION_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_NORMALIZATION_H_

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Normalizes over batch and pixels, for each channel (axis 1); in inference by
// the running statistics "mean" and "variance", which move by `momentum` in
// each training step (the variance unbiased). A frozen layer computes the same
// in training as in inference.
LayerPointer BatchNormalization(float epsilon = 1e-5f, float momentum = 0.1f);

// Normalizes over the last axis, for each row.
LayerPointer LayerNormalization(float epsilon = 1e-5f);

// Divides by the root of the mean square over the last axis, for each row, and
// multiplies by "scale".
LayerPointer RmsNormalization(float epsilon = 1e-6f);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_NORMALIZATION_H_
