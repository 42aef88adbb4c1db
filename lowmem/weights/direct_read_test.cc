#include "footprint/lowmem/weights/direct_read.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/memory/alignment.h"
#include "footprint/lowmem/weights/tile.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

std::string RandomBytes(int64_t size, std::mt19937* random) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>((*random)());
  return bytes;
}

Tile RandomTile(int64_t file_bytes, std::mt19937* random) {
  Tile tile;
  tile.alignment_bytes = 1 << ((*random)() % 4);
  tile.rows = 1 + static_cast<int32_t>((*random)() % 5);
  tile.row_bytes = 1 + static_cast<int32_t>((*random)() % 9000);
  tile.row_stride_bytes =
      tile.row_bytes + ((*random)() % 3 == 0 ? 0 : (*random)() % 6000);
  tile.offset_bytes = (*random)() % (file_bytes - tile.extent_bytes() + 1);
  return tile;
}

// Returns the tile's bytes in the file, run after run.
std::string Expected(const std::string& file, const Tile& tile) {
  std::string bytes;
  for (int32_t row = 0; row < tile.rows; ++row) {
    bytes += file.substr(tile.offset_bytes + row * tile.row_stride_bytes,
                         tile.row_bytes);
  }
  return bytes;
}

// Reads the runs as the kernel would: whole pages, up to the file's end.
void ReadRuns(const std::string& file, const Tile& tile,
              std::vector<char>* slot) {
  const int64_t file_bytes = static_cast<int64_t>(file.size());
  for (int32_t i = 0; i < DirectRuns(tile); ++i) {
    const DirectRun run = MakeDirectRun(tile, i);
    EXPECT_EQ(run.offset_bytes % kPageBytes, 0);
    EXPECT_EQ(run.read_bytes % kPageBytes, 0);
    EXPECT_EQ(run.slot_offset % kPageBytes, 0);
    EXPECT_LE(run.needed_bytes, run.read_bytes);
    EXPECT_LT(run.read_bytes - run.needed_bytes, kPageBytes);
    EXPECT_LE(run.offset_bytes + run.needed_bytes, file_bytes);
    ASSERT_LE(run.slot_offset + run.read_bytes,
              static_cast<int64_t>(slot->size()));
    const int64_t read =
        std::min(run.read_bytes, file_bytes - run.offset_bytes);
    memcpy(slot->data() + run.slot_offset, file.data() + run.offset_bytes,
           read);
  }
}

TEST(DirectReadTest, PutsRandomTilesTogether) {
  std::mt19937 random(20261121);
  const std::string file = RandomBytes(80001, &random);
  for (int round = 0; round < 3000; ++round) {
    const Tile tile = RandomTile(static_cast<int64_t>(file.size()), &random);
    std::vector<char> slot(DirectSlotBytes(tile), '-');
    ReadRuns(file, tile, &slot);
    const TileView view = ArrangeDirectTile(tile, slot.data());
    const char* const data = static_cast<const char*>(view.data);
    ASSERT_GE(data, slot.data());
    ASSERT_LE(data + tile.size_bytes(), slot.data() + slot.size());
    EXPECT_EQ((data - slot.data()) % tile.alignment_bytes, 0);
    EXPECT_EQ(view.row_stride_bytes, tile.row_bytes);
    ASSERT_EQ(std::string(data, tile.size_bytes()), Expected(file, tile))
        << tile.rows << " rows of " << tile.row_bytes << " bytes, "
        << tile.row_stride_bytes << " apart, at " << tile.offset_bytes;
  }
}

TEST(DirectReadTest, TakesOneRunForWhatIsContiguous) {
  Tile tile;
  tile.offset_bytes = 4096 * 3 + 8;
  tile.row_stride_bytes = tile.row_bytes = 4096;
  tile.rows = 4;
  EXPECT_EQ(DirectRuns(tile), 1);
  EXPECT_EQ(DirectSlotBytes(tile), 5 * 4096);
  EXPECT_EQ(MakeDirectRun(tile, 0).offset_bytes, 4096 * 3);
  EXPECT_EQ(MakeDirectRun(tile, 0).needed_bytes, 8 + 4 * 4096);
  std::vector<char> slot(DirectSlotBytes(tile));
  // The tile is used where it was read; nothing moves.
  EXPECT_EQ(ArrangeDirectTile(tile, slot.data()).data, slot.data() + 8);
}

TEST(DirectReadTest, CountsWhatLiesAroundRowsOnly) {
  Tile tile;
  tile.offset_bytes = 4096 * 3 + 8;
  tile.row_stride_bytes = tile.row_bytes = 100;
  tile.rows = 4;
  EXPECT_EQ(BytesAroundRows(tile, 4096), 0) << "its ends are only rounded";
  tile.row_stride_bytes = 4096;
  EXPECT_EQ(BytesAroundRows(tile, 4 * 4096), 4 * (4096 - 100));
}

TEST(DirectReadTest, ReadsNothingOfAnEmptyTile) {
  Tile tile;
  tile.offset_bytes = 100;
  EXPECT_EQ(DirectRuns(tile), 0);
  EXPECT_EQ(DirectSlotBytes(tile), 0);
  EXPECT_EQ(ArrangeDirectTile(tile, nullptr).data, nullptr);
}

}  // namespace
}  // namespace footprint::lowmem_internal
