#include "footprint/lowmem/streaming/arena_layout.h"

#include "footprint/base/memory/alignment.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ArenaLayoutTest, RangesFollowEachOtherAtLines) {
  ArenaLayout layout;
  EXPECT_EQ(layout.peak_bytes(), 0);
  EXPECT_EQ(layout.Take(10).end_bytes(), 10);
  const ArenaRange parts = layout.TakeParts(3, 65);
  EXPECT_EQ(parts.offset_bytes, 64);
  EXPECT_EQ(parts.size_bytes, 3 * 128);
  EXPECT_EQ(layout.Take(1, kPageBytes).offset_bytes, 4096);
  EXPECT_EQ(layout.peak_bytes(), 8192);
}

}  // namespace
}  // namespace footprint
