#include "footprint/gates/server/rate_limit.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(RateLimitTest, SoManyAtOnceThenSoManyASecond) {
  RateLimit limit(/*most_at_once=*/3, /*per_second=*/2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.Take("a", 10), 0);
  EXPECT_DOUBLE_EQ(limit.Take("a", 10), 0.5);
  EXPECT_EQ(limit.Take("b", 10), 0) << "another name";
  EXPECT_EQ(limit.Take("a", 10.5), 0);
  EXPECT_DOUBLE_EQ(limit.Take("a", 10.75), 0.25);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.Take("a", 99), 0);
  EXPECT_GT(limit.Take("a", 99), 0);
}

TEST(RateLimitTest, AClockThatJumpsBackLocksNobodyOut) {
  RateLimit limit(/*most_at_once=*/1, /*per_second=*/1);
  EXPECT_EQ(limit.Take("a", 1000), 0);
  EXPECT_DOUBLE_EQ(limit.Take("a", 10), 1);
  EXPECT_EQ(limit.Take("a", 11), 0);
}

}  // namespace
}  // namespace footprint
