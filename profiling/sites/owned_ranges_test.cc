#include "footprint/profiling/sites/owned_ranges.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

#include "footprint/base/random/property_seeds.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

using BytesOfOwner = std::map<uint32_t, int64_t>;

// Ranges that count what each owner has by the changes that they report.
class CountedRanges {
  auto Count() {
    return [this](uint32_t owner, int64_t change_bytes) {
      bytes_[owner] += change_bytes;
    };
  }

 public:
  ~CountedRanges() { ranges_.Clear(); }

  bool Assign(uintptr_t begin, size_t size_bytes, uint32_t owner) {
    return ranges_.Assign(begin, size_bytes, owner, Count());
  }
  bool Remove(uintptr_t begin, size_t size_bytes) {
    return ranges_.Remove(begin, size_bytes, Count());
  }
  int64_t GiveAllTo(uint32_t owner) { return ranges_.GiveAllTo(owner); }

  // Returns the owners that have any bytes.
  BytesOfOwner bytes() const {
    BytesOfOwner some;
    for (const auto& [owner, bytes] : bytes_) {
      if (bytes != 0) some[owner] = bytes;
    }
    return some;
  }

 private:
  OwnedRanges ranges_;
  BytesOfOwner bytes_;
};

TEST(OwnedRangesTest, ANewRangeTakesAddressesFromOthers) {
  CountedRanges ranges;
  EXPECT_TRUE(ranges.Assign(0x1000, 0x4000, 7));
  EXPECT_TRUE(ranges.Assign(0x2000, 0x1000, 8));
  EXPECT_EQ(ranges.bytes(), (BytesOfOwner{{7, 0x3000}, {8, 0x1000}}));
  EXPECT_TRUE(ranges.Assign(0x0, 0x8000, 9));
  EXPECT_EQ(ranges.bytes(), (BytesOfOwner{{9, 0x8000}}));
}

TEST(OwnedRangesTest, RemovesOnlyWhatIsIn) {
  CountedRanges ranges;
  EXPECT_TRUE(ranges.Remove(0x1000, 0x1000));
  EXPECT_TRUE(ranges.Assign(0x1000, 0x3000, 7));
  EXPECT_TRUE(ranges.Remove(0x2000, 0x1000));
  EXPECT_TRUE(ranges.Remove(0x2000, 0x1000));
  EXPECT_EQ(ranges.bytes(), (BytesOfOwner{{7, 0x2000}}));
  EXPECT_TRUE(ranges.Remove(0x1800, 0));
  EXPECT_TRUE(ranges.Remove(0x0, 0x10000));
  EXPECT_EQ(ranges.bytes(), BytesOfOwner{});
}

TEST(OwnedRangesTest, AllCanGoToOneOwner) {
  CountedRanges ranges;
  EXPECT_EQ(ranges.GiveAllTo(1), 0);
  ranges.Assign(0x1000, 0x1000, 7);
  ranges.Assign(0x2000, 0x3000, 8);
  EXPECT_EQ(ranges.GiveAllTo(1), 0x4000);
}

// The trials go from few long ranges that meet to many short ones, for which
// the array grows.
TEST(OwnedRangesTest, AgreesWithAnOwnerForEachAddress) {
  const uint32_t seed_count = PropertySeedCount();
  for (uint32_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const uint32_t units = 100u << (seed % 6);
    const uint32_t longest = 32u >> (seed % 6);
    CountedRanges ranges;
    std::map<uintptr_t, uint32_t> owner_of;
    for (int step = 0; step < 1500; ++step) {
      const uintptr_t begin = random() % units + 1;
      const size_t size = random() % (longest + 1);
      const uint32_t owner = random() % 5;
      const bool is_assigned = random() % 3 != 0;
      for (uintptr_t at = begin; at < begin + size; ++at) {
        if (is_assigned) {
          owner_of[at] = owner;
        } else {
          owner_of.erase(at);
        }
      }
      ASSERT_TRUE(is_assigned ? ranges.Assign(begin, size, owner)
                              : ranges.Remove(begin, size));
      if (step % 20 != 0) continue;
      BytesOfOwner expected;
      for (const auto& [at, each] : owner_of) ++expected[each];
      ASSERT_EQ(ranges.bytes(), expected);
    }
    EXPECT_EQ(ranges.GiveAllTo(9), static_cast<int64_t>(owner_of.size()));
  }
}

}  // namespace
}  // namespace footprint::profiling_internal
