#include "footprint/gates/judge/headroom.h"

#include <cstdint>
#include <limits>

#include "absl/types/optional.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max() - 1;

TEST(HeadroomTest, AMaximumIsAboveWhatWasMeasured) {
  Headroom headroom;
  EXPECT_EQ(ComputeMaximum(headroom, PEAK_LIVE_USABLE_BYTES, 5), absl::nullopt);
  headroom.set_exact(true);
  EXPECT_EQ(ComputeMaximum(headroom, PEAK_LIVE_USABLE_BYTES, 5), 5);
  headroom.set_percent(10);
  EXPECT_EQ(ComputeMaximum(headroom, PEAK_LIVE_USABLE_BYTES, 1001), 1102);
  EXPECT_EQ(ComputeMaximum(headroom, NET_GROWTH_USABLE_BYTES, -100), -90);
  headroom.set_bytes(7);
  EXPECT_EQ(ComputeMaximum(headroom, PEAK_LIVE_USABLE_BYTES, 5), 12);
}

TEST(HeadroomTest, BytesSayNothingOfCounts) {
  Headroom headroom;
  headroom.set_bytes(7);
  EXPECT_EQ(ComputeMaximum(headroom, ALLOCATION_COUNT, 5), absl::nullopt);
}

TEST(HeadroomTest, ASumEndsBelowTheLargestNumber) {
  EXPECT_EQ(AddUpToLargest(3, 4), 7);
  EXPECT_EQ(AddUpToLargest(kMost, 4), kMost);
  Headroom headroom;
  headroom.set_percent(1e300);
  EXPECT_LE(*ComputeMaximum(headroom, PEAK_LIVE_USABLE_BYTES, kMost), kMost);
}

}  // namespace
}  // namespace footprint
