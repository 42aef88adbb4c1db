// The layers that reduce square windows of an image to one value.
//
//   network.AddLayer("pool", footprint::MaxPool2d(2), {"conv"});
//
// The shape is [batch, channels, height, width]. The windows start every
// `stride` (by default every `window`) pixels and lie inside the image. See
// layer.h for ownership and thread-safety. Memory: in training, max pooling
// keeps the position of the largest value for each output, in 1, 2, 4 or 8 bits
// (8 without pack_winners); average pooling keeps nothing.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_POOLING_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_POOLING_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// These pool over windows of 1 to 16 pixels a side (max), or of any size
// (average). Resolving the network returns InvalidArgument if the input is not
// floats of rank 4, if the window is larger than the image or out of that
// range, or if the stride is below 0. A `stride` of 0 means `window`.
LayerPointer MaxPool2d(int64_t window, int64_t stride = 0);
LayerPointer AveragePool2d(int64_t window, int64_t stride = 0);

// Averages each channel: [batch, channels, height, width] becomes [batch,
// channels].
LayerPointer GlobalAveragePool2d();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_POOLING_H_
