// The layer that slides square filters over images.
//
//   network.AddLayer("c1", footprint::Convolution2d({6, /*kernel=*/5}),
//                    {"image"});
//
// [batch, channels, height, width] becomes [batch, output channels, ...], in
// which an extent is (extent + 2 * padding - kernel) / stride + 1, rounded
// down. Weights are "weight" [output channels, channels, kernel, kernel] and,
// unless `bias` is false, "bias" [output channels]. See layer.h for ownership
// and thread-safety. Memory: keeps its input until the gradient is calculated;
// planned workspaces hold the scratch memory that the math backend asks for
// and, with groups, the weight gradient of one group.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_CONVOLUTION2D_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_CONVOLUTION2D_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"

namespace footprint {

struct Convolution2dOptions {
  int64_t channels = 1;  // of the output
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 0;  // zeros at each side; less than the kernel
  bool bias = true;
  // The number of groups of input and output channels. A filter reads only the
  // input channels of its group: "weight" is [channels, input channels /
  // groups, kernel, kernel]. With as many groups as input channels the
  // convolution is depthwise.
  int64_t groups = 1;
};

// Makes the layer. Resolving the network returns InvalidArgument if the input
// is not floats of rank 4, if the channels, the kernel or the stride are not
// from 1 to 2^20, if the padding is below 0 or not less than the kernel, if the
// kernel is larger than the padded image, or if the channels cannot be divided
// into the groups.
LayerPointer Convolution2d(const Convolution2dOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_CONVOLUTION2D_H_
