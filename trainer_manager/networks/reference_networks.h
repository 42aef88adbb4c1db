// The reference networks, on which this package's memory is measured.
//
//   footprint::Network network = footprint::LeNet5(/*batch=*/32);
//
// Each network includes its loss. Unless the comment says otherwise, it is a
// cross entropy, whose labels are int32 classes [batch]. Thread-safe; see
// network.h for ownership and memory.

#ifndef FOOTPRINT_TRAINER_MANAGER_NETWORKS_REFERENCE_NETWORKS_H_
#define FOOTPRINT_TRAINER_MANAGER_NETWORKS_REFERENCE_NETWORKS_H_

#include <cstdint>

#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// 13-50-50-1 with ReLU and mean squared error; input "rows" [batch, 13].
Network TabularMlp(int64_t batch);

// 784-512-512-10 with ReLU and cross entropy; input "image" [batch, 784].
Network DigitMlp(int64_t batch);

// LeNet-5 (LeCun et al., 1998) with trained biases, tanh and average pooling:
// 6 filters, 16 filters, 120, 84 and 10 units, cross entropy; input "image"
// [batch, 1, 28, 28].
Network LeNet5(int64_t batch);

// The LeNet of NNTrainer's MNIST application: 6 and 12 filters, sigmoid, 10
// units; input "image" [batch, 1, 28, 28].
Network SmallLeNet(int64_t batch);

// VGG16 for 32 x 32 images of 100 classes: 13 convolutions, a layer of 256
// units with batch normalization; input "image" [batch, 3, 32, 32].
Network Vgg16(int64_t batch);

// ResNet-18 for 32 x 32 images of 100 classes, normalized after the first
// convolution of a block and after its sum; input "image" [batch, 3, 32, 32].
Network ResNet18(int64_t batch);

// Two layers of width 128 and 4 heads over 64 positions, causal attention, a
// vocabulary of 1,000, GELU of width 512, normalized before each part; input
// "tokens" [batch, 64] of int32, labels of the same shape.
Network SmallTransformer(int64_t batch);

}  // namespace footprint

// Tested by //trainer_manager/runtime:golden_losses_test and
// //trainer_manager/runtime:plan_execution_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_REFERENCE_NETWORKS_H_
