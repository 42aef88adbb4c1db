#include "footprint/trainer_manager/runtime/manager_options.h"

#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

ManagerOptions Descent() {
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  return options;
}

std::string Refusal(const ManagerOptions& options,
                    const MemoryOptions& memory = {}) {
  const auto plan =
      PlanExecution(TabularMlp(2), NetworkMode::kTraining, memory);
  EXPECT_THAT(plan, IsOk());
  const absl::Status status = CheckManagerOptions(*plan, options);
  EXPECT_THAT(status,
              AnyOf(IsOk(), StatusIs(absl::StatusCode::kInvalidArgument)));
  return std::string(status.message());
}

TEST(CheckManagerOptionsTest, TrainingNeedsAnOptimizerOfThePlannedStates) {
  EXPECT_EQ(Refusal(Descent()), "");
  EXPECT_THAT(Refusal({}), HasSubstr("training needs an optimizer"));
  ManagerOptions options;
  options.optimizer = Adam(0.1f);
  EXPECT_THAT(Refusal(options), HasSubstr("2 states for each weight, but 0"));
  options.optimizer = StochasticGradientDescent(-1);
  EXPECT_NE(Refusal(options), "");
}

TEST(CheckManagerOptionsTest, LimitsOfGradientsAreAboveZeroAndPlanned) {
  ManagerOptions options = Descent();
  options.clip_value = 0;
  EXPECT_THAT(Refusal(options), HasSubstr("both must be above 0"));
  options = Descent();
  options.clip_norm = 1;
  EXPECT_THAT(Refusal(options), HasSubstr("clip_global_norm"));
  MemoryOptions memory;
  memory.clip_global_norm = true;
  EXPECT_EQ(Refusal(options, memory), "");
}

TEST(CheckManagerOptionsTest, InferenceNeedsNone) {
  const auto plan = PlanExecution(TabularMlp(2), NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(CheckManagerOptions(*plan, {}), IsOk());
}

}  // namespace
}  // namespace footprint
