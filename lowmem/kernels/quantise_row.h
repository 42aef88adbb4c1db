// Quantises floats into blocks of a GGUF type.
//
//   std::vector<uint8_t> blocks(BytesOfElements(DType::kQ8_0, 256));
//   footprint::QuantiseRow(DType::kQ8_0, floats, 256, blocks.data());
//
// The types are Q8_0 and Q4_0, with the rounding of ggml. The number of a block
// with the largest magnitude becomes 127 steps (Q8_0), or eight steps with its
// own sign (Q4_0); the step is stored as a 16-bit float. The error of a number
// is at most half a step (in Q4_0 a whole step for a number near eight steps
// with the opposite sign) plus the step's rounding. As a share of the largest
// magnitude that is 0.45 % for Q8_0, and for Q4_0 6.3 %, or 12.5 % if the
// number has the opposite sign. Blocks with a largest magnitude below 0.008
// (Q8_0) or 0.0005 (Q4_0) have subnormal steps and larger errors: for Q8_0, 0.4
// % of the largest magnitude plus 3.8e-6. A step of 65520 or more (a magnitude
// of 8.3e6, or of 524,000 for Q4_0) is stored as infinite; the block's numbers
// are then infinite or NaN.
//
// The reverse is WidenToFloat (matrix_product.h). Any other type ends the
// program.
//
// Pure, thread-safe; nothing is allocated.

#ifndef FOOTPRINT_LOWMEM_KERNELS_QUANTISE_ROW_H_
#define FOOTPRINT_LOWMEM_KERNELS_QUANTISE_ROW_H_

#include <cstdint>

#include "footprint/base/tensor/dtype.h"

namespace footprint {

// Quantises `count` finite numbers, which must be whole blocks.
void QuantiseRow(DType type, const float* source, int64_t count,
                 uint8_t* destination);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_QUANTISE_ROW_H_
