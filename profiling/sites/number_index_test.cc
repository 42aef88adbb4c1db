#include "footprint/profiling/sites/number_index.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/random/property_seeds.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

TEST(NumberIndexTest, AnEmptyIndexFindsNothing) {
  NumberIndex index;
  EXPECT_EQ(index.Find(7, [](uint32_t) { return true; }), NumberIndex::kNone);
}

// Compares with a map, for hashes that are equal or collide in the bits that
// choose the entry.
TEST(NumberIndexTest, FindsTheNumberOfEachThing) {
  for (uint32_t seed = 1; seed <= PropertySeedCount() / 4; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t mask = seed % 2 == 0 ? 0xff : ~uint64_t{0} << 56;
    const auto hash_of = [mask](uint64_t thing) {
      return HashPair(thing, 1) & mask;
    };
    NumberIndex index;
    std::map<uint64_t, uint32_t> expected;
    std::vector<uint64_t> things = {0};
    for (int step = 0; step < 3000; ++step) {
      const uint64_t thing = random() % 2000;
      const uint32_t found = index.Find(
          hash_of(thing), [&](uint32_t n) { return things[n] == thing; });
      if (expected.count(thing) != 0) {
        ASSERT_EQ(found, expected[thing]) << "seed " << seed;
        continue;
      }
      ASSERT_EQ(found, NumberIndex::kNone) << "seed " << seed;
      const auto number = static_cast<uint32_t>(things.size());
      things.push_back(thing);
      expected[thing] = number;
      ASSERT_TRUE(index.Add(hash_of(thing), number));
    }
    index.Clear();
    EXPECT_EQ(index.Find(hash_of(1), [](uint32_t) { return true; }),
              NumberIndex::kNone);
  }
}

TEST(NumberIndexTest, GivesAllPagesBack) {
  NumberIndex index;
  const int64_t before = ReadResidentBytes().mapped_bytes;
  ASSERT_GT(before, 0);
  for (uint32_t number = 0; number < 100'000; ++number) {
    if (!index.Add(HashPair(number, 1), number)) std::abort();
  }
  const int64_t grown = ReadResidentBytes().mapped_bytes;
  index.Clear();
  const int64_t after = ReadResidentBytes().mapped_bytes;
  EXPECT_GT(grown, before + 100 * int64_t{getpagesize()});
  EXPECT_EQ(after, before);
}

TEST(NumberIndexTest, PairsHaveHashesOfTheirOwn) {
  EXPECT_NE(HashPair(1, 2), HashPair(2, 1));
  EXPECT_NE(HashPair(1, 2), HashPair(1, 3));
}

}  // namespace
}  // namespace footprint::profiling_internal
