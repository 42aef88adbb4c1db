// Random networks, for tests of properties that hold for every network.
//
//   footprint::Network network = footprint::RandomImageNetwork(/*seed=*/7);
//
// The same seed gives the same network. It can be trained and used for
// inference: every layer leads to the one loss. The caller owns the network.
// Thread-safe. Memory: see network.h.

#ifndef FOOTPRINT_TRAINER_MANAGER_NETWORKS_RANDOM_NETWORK_H_
#define FOOTPRINT_TRAINER_MANAGER_NETWORKS_RANDOM_NETWORK_H_

#include <cstdint>

#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Rows: input "x" [4, 6], label of [4, 2]; sums, flattens, values that
// several layers read, and weights that several layers share.
Network RandomRowNetwork(uint32_t seed);

// Images: input "x" [batch, 3, 8, 8] of 3 to 20, label of [batch, 2];
// convolutions, activations, normalizations, poolings and sums.
Network RandomImageNetwork(uint32_t seed);

// Sentences: input "x" [batch, 5] of 2 to 8, label of the same shape, both of
// indices below kTokens; attention, wide layers and residual sums.
constexpr int kTokens = 7;
Network RandomTokenNetwork(uint32_t seed);

// Images of 3 channels and any size, label of [batch, 2]: one to four residual
// blocks with batch normalization, of which the third halves the image, and
// pooling between.
Network RandomResidualNetwork(uint32_t seed);

// One of the above, in turn; label of [batch, 2], or of the sentence where
// `seed` % 4 is 2.
Network RandomNetwork(uint32_t seed);

// A network that is not drawn, but as foreign as those: budgets were seen to
// fail on it. Input "image" [13, 3, 40, 28] of 10 classes: two residual blocks
// with batch normalization, a max pooling and an average pooling.
Network ResidualImageClassifier();
// Input "tokens" [16, 24] of 10 classes: blocks of attention, of ten layers
// each, normalized before each part.
Network AttentionClassifier(int blocks = 3);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_RANDOM_NETWORK_H_
