#include "footprint/trainer_manager/runtime/group_optimizers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/assign_groups.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

ParameterGroup Biases(float rate_factor) {
  ParameterGroup group;
  group.pattern = "*.bias";
  group.rate_factor = rate_factor;
  return group;
}

// One layer, number 0, with a weight and a bias.
ResolvedNetwork OneLayer(const std::vector<ParameterGroup>& groups) {
  Network network;
  network.AddInput("rows", {{4, 3}});
  network.AddLayer("fc", FullyConnected(2), {"rows"});
  network.AddLayer("loss", MeanSquaredError(), {"fc"});
  for (const ParameterGroup& group : groups) network.AddGroup(group);
  auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
  EXPECT_THAT(resolved, IsOk());
  EXPECT_THAT(AssignGroups(ReferenceMath(), true, &*resolved), IsOk());
  return *resolved;
}

// Returns what a weight of 1 becomes with a gradient of 1.
float WeightAfter(const Optimizer& optimizer) {
  const float gradient = 1;
  float weight = 1;
  optimizer.Apply(1, 1, &gradient, &weight, {});
  return weight;
}

TEST(GroupOptimizersTest, WithoutAGroupAllWeightsHaveTheSame) {
  const auto optimizers =
      GroupOptimizers::Create(OneLayer({}), StochasticGradientDescent(0.5f));
  ASSERT_THAT(optimizers, IsOk());
  EXPECT_EQ(&optimizers->At(0).At(0), optimizers->common().get());
  EXPECT_EQ(&optimizers->At(0).At(1), optimizers->common().get());
}

TEST(GroupOptimizersTest, AGroupHasItsRate) {
  const auto optimizers = GroupOptimizers::Create(
      OneLayer({Biases(0.5f)}), StochasticGradientDescent(0.5f));
  ASSERT_THAT(optimizers, IsOk());
  EXPECT_EQ(WeightAfter(optimizers->At(0).At(0)), 0.5f);
  EXPECT_EQ(WeightAfter(optimizers->At(0).At(1)), 0.75f);
  EXPECT_EQ(&optimizers->At(1).At(0), optimizers->common().get());
}

TEST(GroupOptimizersTest, AFactorOfOneAsksNothingOfTheOptimizer) {
  const auto optimizers = GroupOptimizers::Create(
      OneLayer({Biases(1)}), StochasticGradientDescent(0.5f));
  ASSERT_THAT(optimizers, IsOk());
  EXPECT_EQ(&optimizers->At(0).At(1), optimizers->common().get());
}

TEST(GroupOptimizersTest, AnotherOptimizerIsMadeForTheGroupsToo) {
  auto optimizers = GroupOptimizers::Create(OneLayer({Biases(0.5f)}),
                                            StochasticGradientDescent(0.5f));
  ASSERT_THAT(optimizers, IsOk());
  ASSERT_THAT(optimizers->Replace(StochasticGradientDescent(0.25f)), IsOk());
  EXPECT_EQ(WeightAfter(optimizers->At(0).At(0)), 0.75f);
  EXPECT_EQ(WeightAfter(optimizers->At(0).At(1)), 0.875f);
}

TEST(GroupOptimizersTest, ADecayThatTheOptimizerDoesNotHaveIsRefused) {
  ParameterGroup group = Biases(1);
  group.weight_decay = 0.1f;
  const ResolvedNetwork network = OneLayer({group});
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(0.1f), Momentum(0.1f), Adam(0.1f)}) {
    const absl::Status status =
        GroupOptimizers::Create(network, optimizer).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("cannot train the group \"*.bias\" with the rate "
                          "factor 1 and the decay 0.1"));
  }
  EXPECT_THAT(GroupOptimizers::Create(network, AdamW(0.1f)), IsOk());
}

TEST(GroupOptimizersTest, AnOptimizerOfMyOwnSaysWhetherItTrainsGroups) {
  class Fixed final : public Optimizer {
    int states_per_weight() const override { return 0; }
    void Apply(int64_t, int64_t elements, const float*, float* weight,
               absl::Span<float* const>) const override {
      for (int64_t i = 0; i < elements; ++i) weight[i] -= 1;
    }
  };
  const OptimizerPointer fixed = std::make_shared<Fixed>();
  EXPECT_THAT(GroupOptimizers::Create(OneLayer({}), fixed), IsOk());
  const absl::Status status =
      GroupOptimizers::Create(OneLayer({Biases(2)}), fixed).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("override Optimizer::ForGroup"));
}

// Threads divide all weights by what the common optimizer says.
TEST(GroupOptimizersTest, AllGroupsAreElementwiseOrNone) {
  class Group final : public Optimizer {
    int states_per_weight() const override { return 0; }
    void Apply(int64_t, int64_t, const float*, float*,
               absl::Span<float* const>) const override {}
  };
  class Common final : public Optimizer {
    int states_per_weight() const override { return 0; }
    void Apply(int64_t, int64_t, const float*, float*,
               absl::Span<float* const>) const override {}
    bool is_elementwise() const override { return true; }
    OptimizerPointer ForGroup(float, absl::optional<float>) const override {
      return std::make_shared<Group>();
    }
  };
  const absl::Status status =
      GroupOptimizers::Create(OneLayer({Biases(2)}), std::make_shared<Common>())
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("for \"*.bias\" must agree in is_elementwise"));
}

}  // namespace
}  // namespace footprint
