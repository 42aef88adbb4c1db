// Makes random blocks of quantised types for tests, and decodes their elements
// bit by bit, as the format's tables say.
//
//   std::vector<uint8_t> blocks = RandomBlocks(random, DType::kQ4K, 512);
//   QuantisedElement element = ElementOf(DType::kQ4K, blocks.data(), 17);
//
// Pure functions. Memory: the blocks that are returned.

#ifndef FOOTPRINT_LOWMEM_KERNELS_QUANTISED_ELEMENTS_H_
#define FOOTPRINT_LOWMEM_KERNELS_QUANTISED_ELEMENTS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "footprint/base/tensor/dtype.h"

namespace footprint {

// A weight is number * (step * factor) + least, in float arithmetic.
struct QuantisedElement {
  int number = 0;
  float step = 0;
  int factor = 1;
  float least = -0.0f;  // changes no sum, not even that of -0

  float value() const;
};

// Returns element `e` of the block at `block`.
QuantisedElement ElementOf(DType type, const uint8_t* block, int e);

// Returns `count` random elements, whose steps are finite.
std::vector<uint8_t> RandomBlocks(std::mt19937& random, DType type,
                                  int64_t count);

}  // namespace footprint

// Tested by quantised_product_test.

#endif  // FOOTPRINT_LOWMEM_KERNELS_QUANTISED_ELEMENTS_H_
