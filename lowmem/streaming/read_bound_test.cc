#include "footprint/lowmem/streaming/read_bound.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ReadBoundTest, TheFirstPassReadsEverything) {
  const ReadBound bound = {1000, 300};
  EXPECT_EQ(bound.LeastBytes(0), 0);
  EXPECT_EQ(bound.LeastBytes(1), 1000);
  EXPECT_EQ(bound.LeastBytes(2), 1700);
  EXPECT_EQ(bound.LeastBytes(11), 8000);
}

TEST(ReadBoundTest, WeightsThatFitAreReadOnce) {
  const ReadBound bound = {1000, 1000};
  EXPECT_EQ(bound.LeastBytesOfPass(), 0);
  EXPECT_EQ(bound.LeastBytes(7), 1000);
  EXPECT_EQ((ReadBound{1000, 5000}).LeastBytes(7), 1000);
}

// Reads one of many blocks, in the order of use, through a memory of a few
// blocks that drops the block whose next use is furthest away. No program can
// read less than this one (Belady's rule).
int64_t CountReads(int64_t blocks, int64_t memory, int64_t passes) {
  std::vector<int64_t> held;
  int64_t reads = 0;
  const auto next_use = [blocks](int64_t block, int64_t now) {
    return (block - now + blocks) % blocks;
  };
  for (int64_t step = 0; step < passes * blocks; ++step) {
    const int64_t block = step % blocks;
    if (std::find(held.begin(), held.end(), block) != held.end()) continue;
    ++reads;
    held.push_back(block);
    if (static_cast<int64_t>(held.size()) <= memory) continue;
    const int64_t now = (block + 1) % blocks;
    held.erase(
        std::max_element(held.begin(), held.end(), [&](int64_t a, int64_t b) {
          return next_use(a, now) < next_use(b, now);
        }));
  }
  return reads;
}

TEST(ReadBoundTest, NoReplacementReadsLess) {
  for (int64_t blocks = 1; blocks <= 12; ++blocks) {
    for (int64_t memory = 1; memory <= blocks + 1; ++memory) {
      for (int64_t passes = 1; passes <= 5; ++passes) {
        const int64_t least = (ReadBound{blocks, memory}).LeastBytes(passes);
        const int64_t best = CountReads(blocks, memory, passes);
        EXPECT_LE(least, best) << blocks << ", " << memory << ", " << passes;
        // The optimal program holds one block beside those that it keeps.
        const ReadBound with_one_less = {blocks,
                                         std::max<int64_t>(memory - 1, 0)};
        EXPECT_GE(with_one_less.LeastBytes(passes), best);
      }
    }
  }
}

}  // namespace
}  // namespace footprint
