// The layer that multiplies by a weight matrix and adds a bias.
//
//   network.AddLayer("hidden", footprint::FullyConnected(50), {"input"});
//
// Works on the last axis: [..., inputs] becomes [..., units]. Weights are
// "weight" [inputs, units] and, unless it has no bias, "bias" [units]. See
// layer.h for ownership and thread-safety. Memory: keeps its input until the
// gradient is calculated; planned workspaces hold the scratch memory that the
// math backend asks for.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_FULLY_CONNECTED_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_FULLY_CONNECTED_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Makes the layer. Resolving the network returns InvalidArgument if `units` is
// below 1, or if the input is not floats of rank 2 or more.
LayerPointer FullyConnected(int64_t units, bool bias = true);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_FULLY_CONNECTED_H_
