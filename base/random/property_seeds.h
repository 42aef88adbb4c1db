// The number of seeds that a property test tries.
//
//   for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
//     std::mt19937 random(seed);
//   }
//
// Reads the environment in each call and keeps nothing: thread-safe as long as
// no thread changes the environment. Allocates nothing.

#ifndef FOOTPRINT_BASE_RANDOM_PROPERTY_SEEDS_H_
#define FOOTPRINT_BASE_RANDOM_PROPERTY_SEEDS_H_

#include <cstdint>

namespace footprint {

// Returns 200, or the number in FOOTPRINT_PROPERTY_SEEDS in the environment.
// Ends the program if that is not a positive number, since a test without seeds
// would pass.
uint32_t PropertySeedCount();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_RANDOM_PROPERTY_SEEDS_H_
