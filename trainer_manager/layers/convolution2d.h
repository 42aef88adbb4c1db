// The layer that slides square filters over images.
//
//   network.AddLayer("c1", footprint::Convolution2d({6, /*kernel=*/5}),
//   {"image"});
//
// [batch, channels, height, width] becomes [batch, output channels, ...].
// Weights are "weight" [output channels, channels, kernel, kernel] and, if
// asked for, "bias" [output channels]. See layer.h for ownership and
// thread-safety. Memory: keeps its input until the gradient is calculated;
// scratch memory is what the math backend asks for, as planned workspaces.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_CONVOLUTION2D_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_CONVOLUTION2D_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

struct Convolution2dOptions {
  int64_t channels = 1;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 0;  // zeros at each side
  bool bias = true;
  // The number of groups of input and output channels. A filter reads only the
  // input channels of its group: "weight" is [channels, input channels /
  // groups, kernel, kernel]. With as many groups as input channels the
  // convolution is depthwise.
  int64_t groups = 1;
};

LayerPointer Convolution2d(const Convolution2dOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_CONVOLUTION2D_H_
