// Products of quantised weights with activations that are rounded to eight
// bits: sums of whole numbers in place of sums of floats.
//
//   // 64 output features of 1024 input features, for one token
//   std::vector<char> rounded(Int8Bytes(1024, 1));
//   RoundVector(input, 1024, rounded.data());
//   MultiplyInt8Vector({DType::kQ4_0, weights, row_bytes, 64, 1024},
//                      {rounded.data(), 1024}, {}, output, 1);
//
// A token's features are rounded in groups of 32, as ggml's Q8_0 does: the step
// is the largest magnitude of the group divided by 127 (kept as a float), and
// each feature becomes the nearest whole number of steps (ties to even). The
// weights are those of the file. A group's product is
//
//   (weights' step * features' step) * sum of (number * number)
//   + weights' least value * (features' step * sum of the features' numbers)
//
// (without the second line for types that have no least value; in Q6_K, each
// half of the group has its own factor, so the sum is first factor * sum +
// second factor * sum, in floats). The sums are whole numbers and exact. Groups
// are added as base/simd/dense_product.h adds columns: one after the other
// within a block of kSumBlock columns, from zero; then the blocks are added to
// the start. Each operation is rounded by itself. So the bits depend on neither
// tile, thread nor instruction set, and a token has the same bits alone
// (MultiplyInt8Vector) and among others (MultiplyInt8Panels).
//
// Error, compared with the file's weights and unrounded features: each feature
// is off by at most half a step, so a product is off by at most half the sum of
// |weight| * step. In practice the errors mostly cancel: with normal features
// they are 0.7 % of the spread of products. Features below 1e-36 may become
// zero. A group that holds a NaN or an infinity gives NaNs.
//
// Types: Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K and Q6_K; any other type ends
// the program. Instructions: AVX-512 VNNI, AVX2, or plain C++, which gives the
// same bits slowly. Columns and strides are whole blocks.
//
// Thread-safe: nothing is kept or allocated. Outputs must not overlap inputs.

#ifndef FOOTPRINT_LOWMEM_KERNELS_INT8_PRODUCT_H_
#define FOOTPRINT_LOWMEM_KERNELS_INT8_PRODUCT_H_

#include <cstdint>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {

// Returns whether the products below take weights of the type.
bool HasInt8Product(DType type);

// Returns the bytes of rounded features of one token, or of whole panels: 1.25
// for each feature.
int64_t Int8Bytes(int64_t columns, int64_t tokens);

// Rounds one token's features, which lie one after the other.
void RoundVector(const float* input, int64_t columns, char* rounded);

// Rounds the features of panels of tokens.
void RoundPanels(const PanelView& input, int64_t columns, int64_t panels,
                 char* rounded);

// Rows of a matrix of a quantised type.
struct QuantisedView {
  DType type = DType::kQ8_0;
  const void* data = nullptr;
  int64_t row_stride_bytes = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

// Rounded features, as RoundVector or RoundPanels left them, at a multiple of 4
// bytes. The matrix's first column is multiplied by the feature `first_column`,
// which is a multiple of kSumBlock. The end of the columns is such a multiple,
// too, or the end of the features.
struct RoundedView {
  const char* data = nullptr;
  int64_t columns = 0;  // of all features
  int64_t first_column = 0;
};

// Multiplies the matrix with one token. output(row) is at
// output[row * output_stride]; no activation is applied.
void MultiplyInt8Vector(const QuantisedView& matrix, const RoundedView& input,
                        const Epilogue& epilogue, float* output,
                        int64_t output_stride);

// Returns the bytes in which MultiplyInt8Panels unpacks a row: 1.4 a column.
int64_t Int8RowBytes(int64_t columns);

// Multiplies the matrix with panels of tokens. `scratch` has room for all rows
// unpacked, at a multiple of 4 bytes.
void MultiplyInt8Panels(const QuantisedView& matrix, const RoundedView& input,
                        int64_t panels, const Epilogue& epilogue,
                        const PanelOutput& output, char* scratch);

// Returns the instructions that the functions above use: "AVX-512 VNNI", "AVX2"
// or "plain C++".
const char* Int8InstructionsName();

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_INT8_PRODUCT_H_
