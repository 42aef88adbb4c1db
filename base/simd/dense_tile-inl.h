// The register tile of dense products, compiled once for each instruction set:
// include this file after hwy/foreach_target.h. dense_product.h describes the
// views and the order of sums, and reference_product.h has the naive version.
//
// This multiplies 40 rows of a matrix of 100 columns by one panel.
//   MultiplySumBlock<1, kPanelWidth>({weights, 100, 1}, 40, 100,
//                                    PanelView{input}, {bias}, {output, 16});
//
// Thread-safe: it keeps nothing and allocates nothing. Outputs must not overlap
// the matrix or the input. No alignment is needed, but a panel that begins at a
// cache line is read fastest.

#if defined(FOOTPRINT_BASE_SIMD_DENSE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOOTPRINT_BASE_SIMD_DENSE_TILE_INL_H_
#undef FOOTPRINT_BASE_SIMD_DENSE_TILE_INL_H_
#else
#define FOOTPRINT_BASE_SIMD_DENSE_TILE_INL_H_
#endif

#include <cstdint>

#include "footprint/base/simd/dense_product.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector of at most kWidth columns of a panel.
template <int64_t kWidth>
using PanelTag = hn::CappedTag<float, kWidth>;
template <int64_t kWidth>
constexpr int kPanelLanes = static_cast<int>(hn::MaxLanes(PanelTag<kWidth>()));

// The tile's sums stay in registers, together with the input's vectors and one
// weight: kTileRows rows of at most kTilePanels panels of kPanelWidth columns.
constexpr int kTilePanels = kPanelLanes<kPanelWidth> == 16 ? 2 : 1;
constexpr int kTileRows = HWY_ARCH_ARM_A64                 ? 6
                          : kPanelLanes<kPanelWidth> == 16 ? 12
                          : kPanelLanes<kPanelWidth> == 8  ? 6
                                                           : 3;

// Return the distance between the rows and between the panels of an input. An
// input that is a matrix is read in place, as kWidth neighbouring columns.
HWY_INLINE constexpr int64_t RowStride(const PanelView&) { return kPanelWidth; }
HWY_INLINE int64_t RowStride(const MatrixView& input) {
  return input.row_stride;
}
HWY_INLINE int64_t PanelStride(const PanelView& input) {
  return input.panel_stride;
}
HWY_INLINE constexpr int64_t PanelStride(const MatrixView&) { return 0; }

// Prefetches the outputs, which for a large product are no longer in the cache
// when their sums are complete.
template <int kRows, int kPanels>
HWY_INLINE void FetchOutputs(const PanelOutput& output) {
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kPanels; ++i) {
      hwy::Prefetch(output.data + row * output.row_stride +
                    i * output.panel_stride);
    }
  }
}

// Adds the sums to their start values, and stores them.
template <int kRows, int kPanels, int64_t kWidth, int kVectors>
HWY_INLINE void StoreSums(
    const hn::Vec<PanelTag<kWidth>> (&sum)[kRows][kPanels * kVectors],
    const Epilogue& epilogue, const PanelOutput& output) {
  const PanelTag<kWidth> d;
  for (int row = 0; row < kRows; ++row) {
    const auto bias =
        hn::Set(d, epilogue.bias == nullptr ? 0.0f : epilogue.bias[row]);
    for (int i = 0; i < kPanels * kVectors; ++i) {
      float* at = output.data + row * output.row_stride +
                  (i / kVectors) * output.panel_stride +
                  (i % kVectors) * kPanelLanes<kWidth>;
      auto start = bias;
      if (epilogue.accumulate) start = hn::Add(hn::LoadU(d, at), bias);
      hn::StoreU(hn::Add(start, sum[row][i]), d, at);
    }
  }
}

// Multiplies kRows rows by kPanels panels of kWidth columns. A transposed
// matrix has a row_stride of 1, and any other a column_stride of 1.
template <int kRows, int kPanels, int64_t kWidth, bool kTransposed, class Input>
HWY_INLINE void MultiplyTile(const MatrixView& matrix, int64_t columns,
                             const Input& input, const Epilogue& epilogue,
                             const PanelOutput& output) {
  constexpr int kLanes = kPanelLanes<kWidth>;
  constexpr int kVectors = static_cast<int>(kWidth) / kLanes;
  const PanelTag<kWidth> d;
  const float* HWY_RESTRICT weights = matrix.data;
  const float* HWY_RESTRICT panel = input.data;
  const int64_t stride = kTransposed ? matrix.column_stride : matrix.row_stride;
  const int64_t panel_stride = PanelStride(input);
  const float* const end = panel + columns * RowStride(input);
  if constexpr (kWidth == kPanelWidth) FetchOutputs<kRows, kPanels>(output);
  hn::Vec<PanelTag<kWidth>> sum[kRows][kPanels * kVectors];
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kPanels * kVectors; ++i) sum[row][i] = hn::Zero(d);
  }
  // The test comes at the end, since GCC does not keep the sums in registers if
  // the loop may be skipped.
  do {
    hn::Vec<PanelTag<kWidth>> x[kPanels * kVectors];
    for (int i = 0; i < kPanels * kVectors; ++i) {
      x[i] = hn::LoadU(
          d, panel + (i / kVectors) * panel_stride + (i % kVectors) * kLanes);
    }
    for (int row = 0; row < kRows; ++row) {
      const auto weight = hn::Set(d, weights[kTransposed ? row : row * stride]);
      for (int i = 0; i < kPanels * kVectors; ++i) {
        sum[row][i] = hn::MulAdd(weight, x[i], sum[row][i]);
      }
    }
    panel += RowStride(input);
    weights += kTransposed ? stride : 1;
  } while (panel != end);
  StoreSums<kRows, kPanels, kWidth, kVectors>(sum, epilogue, output);
}

// Multiplies a tile of `rows` rows, at most kRows.
template <int kRows, int kPanels, int64_t kWidth, bool kTransposed, class Input>
HWY_INLINE void MultiplyTileOf(int64_t rows, const MatrixView& matrix,
                               int64_t columns, const Input& input,
                               const Epilogue& epilogue,
                               const PanelOutput& output) {
  if (rows == kRows) {
    MultiplyTile<kRows, kPanels, kWidth, kTransposed>(matrix, columns, input,
                                                      epilogue, output);
  } else if constexpr (kRows > 1) {
    MultiplyTileOf<kRows - 1, kPanels, kWidth, kTransposed>(
        rows, matrix, columns, input, epilogue, output);
  }
}

// Divides the rows among tiles of nearly the same size, since a tile with few
// rows leaves the multipliers idle.
template <int kPanels, int64_t kWidth, bool kTransposed, class Input>
HWY_NOINLINE void MultiplyTiles(MatrixView matrix, int64_t rows,
                                int64_t columns, const Input& input,
                                Epilogue epilogue, PanelOutput output) {
  int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  for (; rows > 0; --tiles) {
    const int64_t count = (rows + tiles - 1) / tiles;
    MultiplyTileOf<kTileRows, kPanels, kWidth, kTransposed>(
        count, matrix, columns, input, epilogue, output);
    matrix.data += count * matrix.row_stride;
    if (epilogue.bias != nullptr) epilogue.bias += count;
    output.data += count * output.row_stride;
    rows -= count;
  }
}

// Multiplies a matrix of any rows and 1 to kSumBlock columns by kPanels panels,
// at most kTilePanels, of kWidth columns each: kPanelWidth, or 1 for a single
// column. The input is a PanelView, or a MatrixView for a single panel within a
// matrix.
template <int kPanels, int64_t kWidth, class Input>
HWY_INLINE void MultiplySumBlock(const MatrixView& matrix, int64_t rows,
                                 int64_t columns, const Input& input,
                                 const Epilogue& epilogue,
                                 const PanelOutput& output) {
  if (matrix.column_stride == 1) {
    MultiplyTiles<kPanels, kWidth, false>(matrix, rows, columns, input,
                                          epilogue, output);
  } else {
    MultiplyTiles<kPanels, kWidth, true>(matrix, rows, columns, input, epilogue,
                                         output);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

// Tested by dense_tile_test.

#endif  // FOOTPRINT_BASE_SIMD_DENSE_TILE_INL_H_
