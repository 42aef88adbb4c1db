// Quantises floats into blocks of a GGUF type.
//
//   std::vector<uint8_t> blocks(BytesOfElements(DType::kQ8_0, 256));
//   footprint::QuantiseRow(DType::kQ8_0, floats, 256, blocks.data());
//
// The types are Q8_0 and Q4_0, with the rounding of ggml. The number of a block
// that is farthest from zero is 127 steps (Q8_0), or eight steps of its own
// sign (Q4_0); the step is stored as a half. The error of a number is at most
// half a step and what the step's rounding adds, as a share of that farthest
// number: 0.4 % for Q8_0; 6.3 % for Q4_0, or 12.5 % if its sign is the other
// one. Blocks whose farthest number is below 0.008 have steps that are
// subnormal halves, and err more.
//
// The way back is WidenToFloat (matrix_product.h). Any other type ends the
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
