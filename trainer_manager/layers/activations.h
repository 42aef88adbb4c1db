// The layers that apply one function to every element.
//
//   network.AddLayer("relu", footprint::Relu(), {"hidden"});
//
// Each takes floats of 1 to kMaxRank extents and may write its output over its
// input. See layer.h for ownership and thread-safety. Memory: ReLU, sigmoid and
// tanh keep their output for the derivative. GELU and SiLU keep their input, so
// in training their output takes its place only if nothing up to them is
// trained. Dropout keeps nothing: its mask is a function of the seed, the
// iteration and the element, and is calculated again.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_ACTIVATIONS_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_ACTIVATIONS_H_

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

LayerPointer Relu();
LayerPointer Sigmoid();
LayerPointer Tanh();
LayerPointer Gelu();  // x times the normal distribution function of x
LayerPointer Silu();  // x times the sigmoid of x

// Sets a share `rate` of the elements to 0 and multiplies the others by 1 / (1
// - rate), in training; in inference it does nothing. If `rate` is not at least
// 0 and below 1, resolving the network returns InvalidArgument.
LayerPointer Dropout(float rate);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_ACTIVATIONS_H_
