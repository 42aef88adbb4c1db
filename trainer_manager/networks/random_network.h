// Networks drawn at random, for tests of whatever holds for every network.
//
//   footprint::Network network = footprint::RandomImageNetwork(/*seed=*/7);
//
// The same seed gives the same network, which can be trained and inferred with:
// every layer leads to the one loss. Builders only, thread-safe: see network.h.

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

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_NETWORKS_RANDOM_NETWORK_H_
