// The layers that normalize values, then scale and shift them by trained
// weights.
//
//   network.AddLayer("bn", footprint::BatchNormalization(), {"conv"});
//
// Weights are "scale" and, except for RmsNormalization, "shift". Resolving the
// network returns InvalidArgument if `epsilon` is not above 0, or if the input
// is not floats of rank 2 or more. `momentum` is not checked. See layer.h for
// ownership and thread-safety. Memory: in training each keeps its input and two
// floats for each channel (BatchNormalization) or row (LayerNormalization), or
// one for each row (RmsNormalization); a frozen batch normalization keeps
// nothing. In inference each may write in place.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_NORMALIZATION_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_NORMALIZATION_H_

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Normalizes to mean 0 and variance 1 over batch and pixels, for each channel
// (axis 1); in inference by the running statistics "mean" and "variance", which
// in each training step move by the share `momentum` towards those of the batch
// (the unbiased variance). Resolving a training returns InvalidArgument if
// there is one value a channel. A frozen layer computes the same in training as
// in inference.
LayerPointer BatchNormalization(float epsilon = 1e-5f, float momentum = 0.1f);

// Normalizes to mean 0 and variance 1 over the last axis, for each row.
LayerPointer LayerNormalization(float epsilon = 1e-5f);

// Divides by the root of the mean square over the last axis, for each row, and
// multiplies by "scale".
LayerPointer RmsNormalization(float epsilon = 1e-6f);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_NORMALIZATION_H_
