#include "footprint/trainer_manager/math/product_blocks.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "footprint/base/simd/dense_product.h"
#include "gtest/gtest.h"

namespace footprint {
namespace highway_backend_internal {
namespace {

int64_t Draw(int64_t low, int64_t high, std::mt19937_64* random) {
  return low + static_cast<int64_t>((*random)() %
                                    static_cast<uint64_t>(high - low + 1));
}

TEST(ProductBlocksTest, AWorkspaceHoldsABlockOfEachOperandThatIsCopied) {
  // Only the right operand is copied: a panel of 16 columns, all inner indices.
  const Extent small = {10, 5, 7, false};
  EXPECT_EQ(small.right_bytes(), 16 * 7 * 4);
  EXPECT_EQ(small.left_bytes(), 0);
  EXPECT_EQ(small.workspace_bytes(), 16 * 7 * 4 + 64);
  // Both operands are copied, each cut to a block.
  const Extent copied = {200, 100, 300, true};
  EXPECT_EQ(copied.right_bytes(), 64 * 256 * 4);
  EXPECT_EQ(copied.left_bytes(), 96 * 256 * 4);
  // Large products have more columns for each copy.
  const Extent large = {1 << 10, 1 << 10, 1 << 10, true};
  EXPECT_EQ(large.right_bytes(), 256 * 256 * 4);
  EXPECT_EQ((Extent{1 << 10, 1 << 10, 1 << 10, false}).right_bytes(),
            64 * 256 * 4);
}

TEST(ProductBlocksTest, ASmallerProductNeverNeedsMore) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const Extent extent = {Draw(1, 3000, &random), Draw(1, 3000, &random),
                           Draw(1, 3000, &random), trial % 2 == 0};
    const Extent part = {Draw(1, extent.rows, &random),
                         Draw(1, extent.columns, &random),
                         Draw(1, extent.inner, &random), extent.copies_left};
    ASSERT_LE(part.workspace_bytes(), extent.workspace_bytes());
  }
}

// However a product is cut, its copies fit the workspace.
TEST(ProductBlocksTest, BlocksFitTheWorkspace) {
  std::mt19937_64 random(2);
  int packed_again = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const Extent extent = {Draw(1, 3000, &random), Draw(1, 3000, &random),
                           Draw(1, 3000, &random), trial % 2 == 0,
                           trial % 3 == 0};
    const Blocks blocks = extent.blocks();
    ASSERT_GE(blocks.rows, 1);
    ASSERT_LE(blocks.packed_columns, blocks.columns);
    ASSERT_EQ(blocks.packed_columns % kPanelWidth, 0);
    packed_again += blocks.packed_columns < blocks.columns;
    const int64_t left_bytes =
        extent.copies_left
            ? std::min(extent.rows, blocks.rows) * extent.line_bytes()
            : 0;
    ASSERT_LE(extent.packed_bytes() + left_bytes + kLineBytes,
              extent.workspace_bytes());
  }
  EXPECT_GT(packed_again, 0);
}

// A copied block of rows is used for many columns, and panels that are packed
// again for each block are used for many rows.
TEST(ProductBlocksTest, PanelsThatArePackedAgainLeaveRoomForRows) {
  const Blocks blocks =
      Extent{512, 1 << 15, 1 << 12, true, /*packs_right_again=*/true}.blocks();
  EXPECT_EQ(blocks.rows, 256);
  EXPECT_EQ(blocks.columns, 1024);
  EXPECT_EQ(blocks.packed_columns, 64);
  // Columns that fit are packed once.
  const Blocks few = Extent{512, 256, 1 << 12, true, true}.blocks();
  EXPECT_EQ(few.columns, 256);
  EXPECT_EQ(few.packed_columns, 256);
}

TEST(ProductBlocksTest, ExtentsAreThoseOfTheSteps) {
  Convolution c;
  c.batch = 2;
  c.input_channels = 3;
  c.input_height = 8;
  c.input_width = 9;
  c.output_channels = 5;
  c.output_height = 6;
  c.output_width = 7;
  c.kernel = 3;
  const Extent forward = ForwardExtent(c);
  EXPECT_EQ(forward.rows, 5);
  EXPECT_EQ(forward.columns, 2 * 6 * 7);
  EXPECT_EQ(forward.inner, 3 * 9);
  EXPECT_FALSE(forward.copies_left);
  EXPECT_TRUE(forward.packs_right_again);
  const Extent gradient = GradientExtent(c);
  EXPECT_EQ(gradient.rows, 3 * 9);
  EXPECT_EQ(gradient.columns, 5);
  EXPECT_EQ(gradient.inner, 2 * 6 * 7);
  EXPECT_TRUE(gradient.copies_left);
  EXPECT_FALSE(gradient.packs_right_again);
  const Extent derivative = DerivativeExtent(c);
  EXPECT_EQ(derivative.rows, 3);
  EXPECT_EQ(derivative.columns, 2 * 8 * 9);
  EXPECT_EQ(derivative.inner, 5 * 9);
  EXPECT_TRUE(derivative.copies_left);
  EXPECT_TRUE(derivative.packs_right_again);
}

// Each place of the result belongs to one share.
TEST(ProductBlocksTest, SharesAreTheResult) {
  for (const Extent& extent :
       {Extent{1, 1, 5, false}, Extent{40, 100, 5, false},
        Extent{100, 40, 5, true}, Extent{12, 16, 1, false},
        Extent{1000, 3, 9, true}, Extent{3, 1000, 9, false, true}}) {
    for (int parts = 1; parts <= 9; ++parts) {
      std::vector<int> owners(
          static_cast<size_t>(extent.rows * extent.columns));
      for (int part = 0; part < parts; ++part) {
        const Region region = FindRegion(extent, {part, parts});
        for (int64_t r = region.first_row; r < region.end_row; ++r) {
          for (int64_t c = region.first_column; c < region.end_column; ++c) {
            ++owners[static_cast<size_t>(r * extent.columns + c)];
          }
        }
      }
      EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
    }
  }
}

// No thread has more than a unit above its share, and the first has most.
TEST(ProductBlocksTest, SharesAreEven) {
  for (const int64_t columns : {1000, 160, 64, 17}) {
    const Extent extent = {3, columns, 9, false, true};
    const int64_t first = FindRegion(extent, {0, 4}).end_column;
    EXPECT_LE(first, columns / 4 + kPanelWidth);
    for (int part = 1; part < 4; ++part) {
      const Region region = FindRegion(extent, {part, 4});
      EXPECT_LE(region.end_column - region.first_column, first) << part;
    }
  }
}

TEST(ProductBlocksTest, ScratchIsAlignedAndWithinTheWorkspace) {
  const Extent extent = {200, 100, 300, true};
  std::vector<char> bytes(static_cast<size_t>(extent.workspace_bytes()) + 64);
  for (int64_t shift = 0; shift < 64; ++shift) {
    char* const workspace = bytes.data() + shift;
    const Scratch scratch(workspace, extent);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch.right) % 64, 0u);
    EXPECT_GE(reinterpret_cast<char*>(scratch.right), workspace);
    EXPECT_EQ(reinterpret_cast<char*>(scratch.left),
              reinterpret_cast<char*>(scratch.right) + extent.right_bytes());
    EXPECT_LE(reinterpret_cast<char*>(scratch.left) + extent.left_bytes(),
              workspace + extent.workspace_bytes());
  }
}

}  // namespace
}  // namespace highway_backend_internal
}  // namespace footprint
