#include "footprint/profiling/resident/container_limit.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

SharedOnce Seen() {
  SharedOnce seen;
  seen.proportional_bytes = 90 * kMebibyte;
  seen.agent_bytes = 2 * kMebibyte;
  seen.swapped_bytes = 4 * kMebibyte;
  seen.page_table_bytes = 1 * kMebibyte;
  seen.kernel_stack_bytes = 1 * kMebibyte;
  seen.resident_sum_bytes = 120 * kMebibyte;
  return seen;
}

TEST(ContainerLimitTest, AddsTheKernelsShareAndATwentieth) {
  const ContainerLimit limit = RecommendContainerLimit(Seen(), 126 * kMebibyte);
  EXPECT_EQ(limit.resident_bytes, (90 - 2 + 4 + 6) * kMebibyte);
  EXPECT_EQ(limit.kernel_bytes, 2 * kMebibyte);
  EXPECT_EQ(limit.margin_bytes, 5 * kMebibyte);
  EXPECT_EQ(limit.bytes, 105 * kMebibyte);
}

TEST(ContainerLimitTest, IsWholeMebibytesUpwards) {
  SharedOnce seen = Seen();
  seen.proportional_bytes += 1;
  EXPECT_EQ(RecommendContainerLimit(seen, 126 * kMebibyte).bytes,
            106 * kMebibyte);
}

TEST(ContainerLimitTest, TakesNothingOffForAPeakBelowWhatWasSeen) {
  EXPECT_EQ(RecommendContainerLimit(Seen(), 0).resident_bytes, 92 * kMebibyte);
}

TEST(ContainerLimitTest, RecommendsNothingWhereNothingWasSeen) {
  EXPECT_EQ(RecommendContainerLimit({}, 126 * kMebibyte).bytes, 0);
}

}  // namespace
}  // namespace footprint
