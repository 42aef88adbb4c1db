// Floats as the blocks of a quantised type.
//
//   std::vector<uint8_t> blocks(BytesOfElements(DType::kQ8_0, 256));
//   footprint::QuantiseRow(DType::kQ8_0, floats, 256, blocks.data());
//
// Q8_0 and Q4_0 of the GGUF format, with the rounding of its own library: the
// largest number of a block is 127 steps, or of Q4_0 eight steps with its sign;
// the step is stored as a half. A number errs by half a step and what the
// step's rounding adds: Q8_0 by 0.4 % of the block's largest number, Q4_0 by
// 6.3 %, and by 12.5 % where the largest number's sign is the other one.
//
// The way back is WidenToFloat (matrix_product.h). Another type ends the
// program.
//
// Pure, thread-safe; nothing is allocated.

#ifndef FOOTPRINT_LOWMEM_KERNELS_QUANTISE_ROW_H_
#define FOOTPRINT_LOWMEM_KERNELS_QUANTISE_ROW_H_

#include <cstdint>

#include "footprint/base/tensor/dtype.h"

namespace footprint {

// Writes `count` finite numbers, which are whole blocks.
void QuantiseRow(DType type, const float* source, int64_t count,
                 uint8_t* destination);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_QUANTISE_ROW_H_
