#include "footprint/tools/research/rival_policies.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<bool> Alarms(const std::vector<double>& history, double run) {
  std::vector<bool> alarms;
  for (const RivalPolicy& policy : RivalPolicies()) {
    alarms.push_back(policy.alarms(history, run));
  }
  return alarms;
}

TEST(RivalPoliciesTest, QuantilesLieBetweenNeighbours) {
  EXPECT_EQ(ComputeQuantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(ComputeQuantile({4, 1, 3, 2}, 0.75), 3.25);
  EXPECT_EQ(ComputeQuantile({7}, 0.25), 7);
  EXPECT_EQ(ComputeQuantile({1, 2}, 1), 2);
}

// The order is that of RivalPolicies: ratio, 5 %, 2 %, values, changes.
TEST(RivalPoliciesTest, EachHasItsBoundary) {
  const std::vector<double> history = {100, 102, 101, 103, 102};
  // The values have median 102 and quartiles 101 and 102, so up to 105 is
  // accepted.
  EXPECT_EQ(Alarms(history, 104),
            (std::vector<bool>{false, false, false, false, false}));
  EXPECT_EQ(Alarms(history, 104.5),
            (std::vector<bool>{false, false, true, false, false}));
  EXPECT_EQ(Alarms(history, 105.1),
            (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(Alarms(history, 107.2),
            (std::vector<bool>{false, true, true, true, true}));
  EXPECT_EQ(Alarms(history, 204.1),
            (std::vector<bool>{true, true, true, true, true}));
}

TEST(RivalPoliciesTest, AFallIsNoAlarm) {
  EXPECT_EQ(Alarms({100, 102, 101, 103, 102}, 50),
            (std::vector<bool>(5, false)));
}

}  // namespace
}  // namespace footprint
