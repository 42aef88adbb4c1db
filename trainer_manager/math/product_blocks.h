// The blocks and panels of a matrix product, and its workspace: the part of
// highway_backend that does not depend on the instruction set.
//
//   const Extent extent = FindExtent(product);
//   const Scratch scratch(workspace, extent);  // of extent.workspace_bytes()
//
// Plain data; thread-compatible. Memory: only the caller's workspace.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_PRODUCT_BLOCKS_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_PRODUCT_BLOCKS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {
namespace highway_backend_internal {

// Sizes of blocks: a block of the left operand stays in the second-level cache,
// a panel of the right one in the first.
constexpr int64_t kBlockRows = 96;
constexpr int64_t kBlockColumns = 64;
// The columns of a block if blocks of the left operand are copied: more columns
// reuse each copy.
constexpr int64_t kWideBlockColumns = 256;
// The rows and columns of a block if packing the right operand again is cheap:
// the rows stay in the second-level cache, and the columns reuse each block of
// rows.
constexpr int64_t kWideBlockRows = 288;
constexpr int64_t kLongBlockColumns = 1024;
// Products with at most as many multiplications as the first are calculated in
// place. Products with more than the second justify a larger workspace.
constexpr int64_t kSmallProduct = int64_t{1} << 18;
constexpr int64_t kLargeProduct = int64_t{1} << 26;
constexpr int64_t kFloatBytes = static_cast<int64_t>(sizeof(float));

// The places of a panel's columns in the result, as offsets of their first
// elements. The target of the product knows how far apart rows are.
struct Columns {
  int64_t count = 0;
  bool side_by_side = false;
  bool are_even = false;  // all at equal distances
  std::array<int64_t, kPanelWidth> offsets = {};
};

// The sizes of the blocks that a product is calculated in.
struct Blocks {
  int64_t rows;
  int64_t columns;
  // Columns of the right operand that are packed at a time: all of a block, or
  // fewer, which are packed again for every block of rows.
  int64_t packed_columns;
};

// The sizes of a product and how it is cut into blocks.
struct Extent {
  int64_t rows;
  int64_t columns;
  int64_t inner;
  bool copies_left;
  // True if it is cheaper to pack the right operand again than the left one.
  bool packs_right_again = false;

  // Returns the bytes of a row or a column of a block.
  int64_t line_bytes() const {
    return std::min(inner, kSumBlock) * kFloatBytes;
  }
  int64_t block_columns() const {
    const bool is_large = rows * columns > kLargeProduct / inner;
    return copies_left && is_large ? kWideBlockColumns : kBlockColumns;
  }
  int64_t right_bytes() const {
    return AlignUp(std::min(columns, block_columns()), kPanelWidth) *
           line_bytes();
  }
  int64_t left_bytes() const {
    return copies_left ? std::min(rows, kBlockRows) * line_bytes() : 0;
  }
  // Returns the sizes of the blocks. The left operand gets the part of the
  // workspace that the right one does not need.
  Blocks blocks() const {
    if (!packs_right_again || columns <= block_columns()) {
      return {kBlockRows, block_columns(), block_columns()};
    }
    const int64_t room =
        copies_left
            ? (right_bytes() + left_bytes()) / line_bytes() - kBlockColumns
            : kWideBlockRows;
    const int64_t parts = (rows + room - 1) / room;
    return {(rows + parts - 1) / parts, kLongBlockColumns, kBlockColumns};
  }
  // Returns the bytes of the panels that are packed at a time, at the beginning
  // of the workspace.
  int64_t packed_bytes() const {
    return std::min(AlignUp(columns, kPanelWidth), blocks().packed_columns) *
           line_bytes();
  }
  // Returns the bytes of the workspace. A smaller product never needs more.
  int64_t workspace_bytes() const {
    return right_bytes() + left_bytes() + kLineBytes;
  }
};

// One thread's part of a product that several threads calculate together.
struct Share {
  int part = 0;
  int parts = 1;
};

// The rows and columns of a result that one share calculates.
struct Region {
  int64_t first_row;
  int64_t end_row;
  int64_t first_column;
  int64_t end_column;
};

// Shares of rows begin at multiples of this number, which is a multiple of the
// rows of a tile for every instruction set.
constexpr int64_t kSharedRows = 12;

// Returns the beginning of part number `part` if `count` rows, columns or
// elements are cut into `parts` at multiples of `unit`. No part is larger than
// the first, which is that of the thread that waits for all.
inline int64_t FindShareBegin(int64_t count, int64_t unit, int part,
                              int parts) {
  const int64_t units = (count + unit - 1) / unit;
  return std::min(count, (units * part + parts - 1) / parts * unit);
}

// Returns the region of a share. The longer side of the result is cut into
// bands of rows or of columns, so that several threads pack few of the same
// numbers. Shares do not overlap, and together they are the whole result.
inline Region FindRegion(const Extent& extent, Share share) {
  Region region = {0, extent.rows, 0, extent.columns};
  if (share.parts == 1) return region;
  const bool by_rows = extent.rows > extent.columns;
  const int64_t count = by_rows ? extent.rows : extent.columns;
  const int64_t unit = by_rows ? kSharedRows : kPanelWidth;
  const int64_t begin = FindShareBegin(count, unit, share.part, share.parts);
  const int64_t end = FindShareBegin(count, unit, share.part + 1, share.parts);
  (by_rows ? region.first_row : region.first_column) = begin;
  (by_rows ? region.end_row : region.end_column) = end;
  return region;
}

inline Extent FindExtent(const MatrixProduct& p) {
  return {p.rows, p.columns, p.inner, p.transpose_left};
}
inline Extent ForwardExtent(const Convolution& c) {
  return {c.output_channels, c.batch * c.output_height * c.output_width,
          c.input_channels * c.kernel * c.kernel, false, true};
}
inline Extent GradientExtent(const Convolution& c) {
  return {c.input_channels * c.kernel * c.kernel, c.output_channels,
          c.batch * c.output_height * c.output_width, true};
}
// Returns an upper limit of the extent: with a stride, the derivative is
// several smaller products.
inline Extent DerivativeExtent(const Convolution& c) {
  return {c.input_channels, c.batch * c.input_height * c.input_width,
          c.output_channels * c.kernel * c.kernel, true, true};
}

// The addresses of the copies of the operands' blocks in a workspace.
struct Scratch {
  float* right;
  float* left;

  Scratch(void* workspace, const Extent& extent) {
    const auto address = reinterpret_cast<intptr_t>(workspace);
    const int64_t aligned = AlignUp(address, kLineBytes);
    char* start = static_cast<char*>(workspace) + (aligned - address);
    right = reinterpret_cast<float*>(start);
    left = reinterpret_cast<float*>(start + extent.packed_bytes());
  }
};

}  // namespace highway_backend_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_PRODUCT_BLOCKS_H_
