#include "footprint/gates/statistics/sample_decision.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(SampleDecisionTest, LooksFollowEachOther) {
  EXPECT_EQ(RunsToNextLook(0), 9);
  EXPECT_EQ(RunsToNextLook(9), 21);
  EXPECT_EQ(RunsToNextLook(30), 29);
  EXPECT_EQ(RunsToNextLook(40), 19);
  EXPECT_EQ(RunsToNextLook(59), 0);
}

}  // namespace
}  // namespace footprint
