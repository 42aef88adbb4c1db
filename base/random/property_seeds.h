// The number of seeds that a property test tries.
//
//   for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
//     std::mt19937 random(seed);
//   }
//
// Reads the environment anew in each call and keeps nothing: thread-safe as
// long as no thread changes the environment. Allocates nothing.

#ifndef FOOTPRINT_BASE_RANDOM_PROPERTY_SEEDS_H_
#define FOOTPRINT_BASE_RANDOM_PROPERTY_SEEDS_H_

#include <cstdint>

namespace footprint {

// 200, or what FOOTPRINT_PROPERTY_SEEDS in the environment says; ends the
// program if that is no positive number, since a test of no seeds would pass.
uint32_t PropertySeedCount();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_RANDOM_PROPERTY_SEEDS_H_
