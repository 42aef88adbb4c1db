#include "footprint/profiling/mapped_ranges.h"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

TEST(MappedRangesTest, CountsNewBytesOnce) {
  MappedRanges ranges;
  EXPECT_EQ(ranges.Add(0x1000, 0x3000), 0x3000);
  EXPECT_EQ(ranges.Add(0x2000, 0x3000), 0x1000);
  EXPECT_EQ(ranges.Add(0x1000, 0x4000), 0);
  EXPECT_EQ(ranges.range_count(), 1u);
}

TEST(MappedRangesTest, RemovesOnlyWhatIsIn) {
  MappedRanges ranges;
  ranges.Add(0x1000, 0x3000);
  EXPECT_EQ(ranges.Remove(0x2000, 0x1000), 0x1000);
  EXPECT_EQ(ranges.range_count(), 2u);
  EXPECT_EQ(ranges.Remove(0x0, 0x10000), 0x2000);
  EXPECT_EQ(ranges.range_count(), 0u);
  EXPECT_EQ(ranges.Remove(0x0, 0x10000), 0);
}

TEST(MappedRangesTest, JoinsNeighbours) {
  MappedRanges ranges;
  ranges.Add(0x1000, 0x1000);
  ranges.Add(0x3000, 0x1000);
  EXPECT_EQ(ranges.Add(0x2000, 0x1000), 0x1000);
  EXPECT_EQ(ranges.range_count(), 1u);
}

TEST(MappedRangesTest, AgreesWithASetOfUnits) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    MappedRanges ranges;
    std::set<uintptr_t> oracle;
    for (int step = 0; step < 400; ++step) {
      const uintptr_t begin = random() % 600 + 1;
      const size_t size = random() % 20;
      int64_t expected = 0;
      if (random() % 2 == 0) {
        for (uintptr_t at = begin; at < begin + size; ++at) {
          expected += oracle.insert(at).second ? 1 : 0;
        }
        ASSERT_EQ(ranges.Add(begin, size), expected);
      } else {
        for (uintptr_t at = begin; at < begin + size; ++at) {
          expected += static_cast<int64_t>(oracle.erase(at));
        }
        ASSERT_EQ(ranges.Remove(begin, size), expected);
      }
      size_t runs = 0;
      for (uintptr_t at : oracle) runs += oracle.count(at - 1) == 0 ? 1 : 0;
      ASSERT_EQ(ranges.range_count(), runs);
    }
  }
}

}  // namespace
}  // namespace footprint::profiling_internal
