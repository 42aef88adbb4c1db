#include "footprint/trainer_manager/execution/refused_budget.h"

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(RefusedBudgetTest, ReadsTheNumberAndNothingElse) {
  EXPECT_EQ(LeastBudgetNamed(absl::ResourceExhaustedError(
                "infeasible within 1 bytes: the minimum found is 38432 bytes, "
                "at fc2: calculate derivative")),
            38432);
  EXPECT_EQ(LeastBudgetNamed(absl::OkStatus()), -1);
  EXPECT_EQ(LeastBudgetNamed(absl::UnknownError("the minimum found is x")), -1);
}

}  // namespace
}  // namespace footprint
