#include "footprint/profiling/heap/mapped_ranges.h"

#include <algorithm>
#include <random>
#include <set>

#include "footprint/base/random/property_seeds.h"
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
  const uint32_t seed_count = PropertySeedCount();
  size_t most_ranges = 0;
  for (uint32_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    // The trials go from few long ranges that meet to many short ones, for
    // which the array grows.
    const uint32_t units = 100u << (seed % 6);
    const uint32_t longest = 32u >> (seed % 6);
    MappedRanges ranges;
    std::set<uintptr_t> oracle;
    for (int step = 0; step < 1500; ++step) {
      const uintptr_t begin = random() % units + 1;
      const size_t size = random() % (longest + 1);
      int64_t expected = 0;
      if (random() % 3 != 0) {
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
      most_ranges = std::max(most_ranges, ranges.range_count());
      if (step % 50 != 0) continue;
      size_t runs = 0;
      for (uintptr_t at : oracle) runs += oracle.count(at - 1) == 0 ? 1 : 0;
      ASSERT_EQ(ranges.range_count(), runs);
    }
  }
  if (seed_count >= 6) {
    EXPECT_GT(most_ranges, 256u) << "more than a page holds";
  }
}

}  // namespace
}  // namespace footprint::profiling_internal
