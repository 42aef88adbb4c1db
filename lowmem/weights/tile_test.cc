#include "footprint/lowmem/weights/tile.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace footprint {
namespace {

Tile Rows(int32_t rows, int32_t row_bytes, int64_t row_stride_bytes) {
  Tile tile;
  tile.offset_bytes = 4096;
  tile.row_stride_bytes = row_stride_bytes;
  tile.row_bytes = row_bytes;
  tile.rows = rows;
  return tile;
}

// Checks the example of the header.
TEST(TileTest, GapsAreOfTheExtentAlone) {
  const Tile tile = Rows(64, 1024, 16 * 1024);
  EXPECT_EQ(tile.size_bytes(), 64 * 1024);
  EXPECT_EQ(tile.extent_bytes(), 63 * 16 * 1024 + 1024);
  EXPECT_FALSE(tile.contiguous());
}

TEST(TileTest, RowsWithoutGapsAreOneRun) {
  const Tile tile = Rows(64, 1024, 1024);
  EXPECT_EQ(tile.extent_bytes(), tile.size_bytes());
  EXPECT_TRUE(tile.contiguous());
}

TEST(TileTest, OneRowHasNoGap) {
  const Tile tile = Rows(1, 1024, 16 * 1024);
  EXPECT_EQ(tile.extent_bytes(), 1024);
  EXPECT_TRUE(tile.contiguous());
}

TEST(TileTest, NoRowsAreNoBytes) {
  const Tile tile = Rows(0, 1024, 16 * 1024);
  EXPECT_EQ(tile.size_bytes(), 0);
  EXPECT_EQ(tile.extent_bytes(), 0);
  EXPECT_TRUE(tile.contiguous());
}

TEST(TileTest, CountsBytesThatNo32BitsHold) {
  const Tile tile = Rows(1 << 20, 1 << 20, int64_t{1} << 21);
  EXPECT_EQ(tile.size_bytes(), int64_t{1} << 40);
  EXPECT_EQ(tile.extent_bytes(), (int64_t{1} << 41) - (int64_t{1} << 20));
}

}  // namespace
}  // namespace footprint
