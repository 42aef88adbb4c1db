// The layers that reduce square windows of an image to one value.
//
//   network.AddLayer("pool", footprint::MaxPool2d(2), {"conv"});
//
// [batch, channels, height, width]; the windows start every `stride` (by
// default every `window`) pixels and lie inside the image. See layer.h for
// ownership and thread-safety. Memory: max pooling keeps the winner of the
// largest for each output, in as many bits as it needs: 1, 2, 4 or 8; average
// pooling keeps nothing.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_POOLING_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_POOLING_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

// Pool over windows from 1 to 16 (max), or of any size (average).
LayerPointer MaxPool2d(int64_t window, int64_t stride = 0);
LayerPointer AveragePool2d(int64_t window, int64_t stride = 0);

// The mean of each channel: [batch, channels, height, width] becomes
// [batch, channels].
LayerPointer GlobalAveragePool2d();

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_POOLING_H_
