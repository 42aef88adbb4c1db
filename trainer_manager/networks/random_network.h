// Makes random networks for tests of properties that hold for every network.
//
//   footprint::Network network = footprint::RandomImageNetwork(/*seed=*/7);
//
// Equal seeds give equal networks. They can be trained and used for inference:
// every layer leads to the only loss. The caller owns the network. Thread-safe.
// Memory: see network.h.

#ifndef FOOTPRINT_TRAINER_MANAGER_NETWORKS_RANDOM_NETWORK_H_
#define FOOTPRINT_TRAINER_MANAGER_NETWORKS_RANDOM_NETWORK_H_

#include <cstdint>

#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Returns a network on rows: input "x" [4, 6], label [4, 2]. There are sums,
// flattens, activations, normalizations, dropouts, values with several readers,
// and shared weights.
Network RandomRowNetwork(uint32_t seed);

// Returns a network on images: input "x" [batch, 3, 8, 8] with a batch of 3 to
// 20, label [batch, 2]. The layers are convolutions, activations,
// normalizations, dropouts, poolings and sums.
Network RandomImageNetwork(uint32_t seed);

// Returns a network on sentences: input "x" [batch, 5] with a batch of 2 to 8,
// label of the same shape, both indices below kTokens. The layers are
// attention, wide layers, normalizations, dropouts and residual sums.
constexpr int kTokens = 7;
Network RandomTokenNetwork(uint32_t seed);

// Returns a network on sentences as Llama has it: input "x" [batch, 5] with a
// batch of 1 to 4, label of the same shape, both indices below kTokens. The
// layers are those of one block: RMS normalization, rotary positions, attention
// with grouped heads, a gated part and sums.
Network RandomGatedNetwork(uint32_t seed);

// Returns a network on images: input "image" [batch, 3, height, width] with a
// batch of 2 to 13 and extents of 8, 12 or 16; label [batch, 2]. It has one to
// four residual blocks with batch normalization, and a pooling after the first.
// The third block halves the image.
Network RandomResidualNetwork(uint32_t seed);

// Returns one of the above, chosen by `seed` % 4. The label is [batch, 2], or
// that of the sentence if `seed` % 4 is 2.
Network RandomNetwork(uint32_t seed);

// Returns a fixed network on which budgets once failed. Its input is "image"
// [13, 3, 40, 28], of 10 classes: two residual blocks with batch normalization,
// a max pooling and an average pooling.
Network ResidualImageClassifier();
// Returns a fixed network with the input "tokens" [16, 24], of 10 classes:
// blocks of attention with ten layers each, normalized before each part.
Network AttentionClassifier(int blocks = 3);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_RANDOM_NETWORK_H_
