#include "footprint/trainer_manager/layers/optimizer.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// The weight after three steps along the gradients 1, -2 and 0.5 from 1.
float WeightAfterThreeSteps(const Optimizer& optimizer) {
  float weight = 1;
  std::vector<float> memory(static_cast<size_t>(optimizer.states_per_weight()),
                            0.0f);
  std::vector<float*> states;
  for (float& state : memory) states.push_back(&state);
  int64_t iteration = 0;
  for (const float gradient : {1.0f, -2.0f, 0.5f}) {
    optimizer.Apply(++iteration, 1, &gradient, &weight, states);
  }
  return weight;
}

TEST(OptimizerTest, SgdGoesAgainstTheGradient) {
  EXPECT_EQ(StochasticGradientDescent(0.1f)->states_per_weight(), 0);
  EXPECT_NEAR(WeightAfterThreeSteps(*StochasticGradientDescent(0.1f)),
              1 + 0.1 * 0.5, 1e-6);
}

TEST(OptimizerTest, MomentumRemembersEarlierGradients) {
  // The velocities are 1, -1.5 and -0.25.
  EXPECT_NEAR(WeightAfterThreeSteps(*Momentum(0.1f, 0.5f)),
              1 - 0.1 * (1 - 1.5 - 0.25), 1e-6);
}

TEST(OptimizerTest, AdamMatchesItsFormulaInDouble) {
  double weight = 1;
  double first = 0;
  double second = 0;
  int t = 0;
  for (const double g : {1.0, -2.0, 0.5}) {
    ++t;
    first = 0.9 * first + 0.1 * g;
    second = 0.999 * second + 0.001 * g * g;
    const double corrected = first / (1 - std::pow(0.9, t));
    weight -= 0.01 * corrected /
              (std::sqrt(second / (1 - std::pow(0.999, t))) + 1e-8);
  }
  EXPECT_EQ(Adam(0.01f)->states_per_weight(), 2);
  EXPECT_NEAR(WeightAfterThreeSteps(*Adam(0.01f)), weight, 1e-6);
}

TEST(OptimizerTest, AdamWDecaysTheWeightApartFromTheGradient) {
  double weight = 1;
  double first = 0;
  double second = 0;
  int t = 0;
  for (const double g : {1.0, -2.0, 0.5}) {
    ++t;
    weight *= 1 - 0.01 * 0.5;
    first = 0.9 * first + 0.1 * g;
    second = 0.999 * second + 0.001 * g * g;
    const double corrected = first / (1 - std::pow(0.9, t));
    weight -= 0.01 * corrected /
              (std::sqrt(second / (1 - std::pow(0.999, t))) + 1e-8);
  }
  EXPECT_EQ(AdamW(0.01f)->states_per_weight(), 2);
  EXPECT_NEAR(WeightAfterThreeSteps(*AdamW(0.01f, 0.5f)), weight, 1e-6);
  EXPECT_EQ(WeightAfterThreeSteps(*AdamW(0.01f, 0)),
            WeightAfterThreeSteps(*Adam(0.01f)));
}

TEST(OptimizerTest, ARateFollowsItsSchedule) {
  // The rates are 0.1, 0.05 and 0.025.
  EXPECT_NEAR(WeightAfterThreeSteps(
                  *StochasticGradientDescent(ExponentialRate(0.1f, 0.5f))),
              1 - 0.1 + 0.05 * 2 - 0.025 * 0.5, 1e-6);
  EXPECT_NEAR(
      WeightAfterThreeSteps(*Momentum(ExponentialRate(0.1f, 0.5f), 0.5f)),
      1 - 0.1 * 1 + 0.05 * 1.5 + 0.025 * 0.25, 1e-6);
  EXPECT_NE(WeightAfterThreeSteps(*Adam(ExponentialRate(0.1f, 0.5f))),
            WeightAfterThreeSteps(*Adam(0.1f)));
}

constexpr float kMost = std::numeric_limits<float>::max();

// StaysFinite must agree with what Apply then does.
TEST(OptimizerTest, StaysFiniteIsWhatApplyLeaves) {
  const std::vector<float> numbers = {0,     -1,     1e-20f,   3e19f,
                                      kMost, -kMost, INFINITY, NAN};
  int refused = 0;
  int taken = 0;
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(2), Momentum(1e10f), Adam(0.1f),
        Adam(3e38f, 0.9f, 0.999f, 0), AdamW(1, 3e38f),
        Momentum(ExponentialRate(1e30f, 1e4f))}) {
    for (const float gradient : numbers) {
      for (const float weight : numbers) {
        for (const float state : numbers) {
          std::vector<float> values = {weight, state, std::abs(state)};
          values.resize(1 +
                        static_cast<size_t>(optimizer->states_per_weight()));
          std::vector<float*> states;
          for (size_t i = 1; i < values.size(); ++i) {
            states.push_back(&values[i]);
          }
          const bool stays =
              optimizer->StaysFinite(3, 1, &gradient, &values[0], states);
          EXPECT_TRUE(std::isnan(weight) || values[0] == weight);
          optimizer->Apply(3, 1, &gradient, &values[0], states);
          bool finite = true;
          for (const float value : values) finite &= std::isfinite(value);
          EXPECT_EQ(stays, finite) << gradient << " " << weight << " " << state;
          (stays ? taken : refused) += 1;
        }
      }
    }
  }
  EXPECT_GT(refused, 400);
  EXPECT_GT(taken, 400);
}

TEST(OptimizerTest, OneOfMyOwnIsAskedForItsGradientAtLeast) {
  class Fixed final : public Optimizer {
    int states_per_weight() const override { return 0; }
    void Apply(int64_t, int64_t elements, const float*, float* weight,
               absl::Span<float* const>) const override {
      for (int64_t i = 0; i < elements; ++i) weight[i] -= 1;
    }
  };
  const float gradients[] = {1, NAN};
  const float weights[] = {1, 1};
  const Fixed fixed;
  const Optimizer& optimizer = fixed;
  EXPECT_TRUE(optimizer.StaysFinite(1, 1, gradients, weights, {}));
  EXPECT_FALSE(optimizer.StaysFinite(1, 2, gradients, weights, {}));
}

// The optimizer of a group does the same as one with the group's rate and
// decay.
TEST(OptimizerTest, AGroupHasItsRateAndDecay) {
  const RateSchedule rate = CosineRate(0.5f, 0.1f, 4);
  const RateSchedule half = CosineRate(0.25f, 0.05f, 4);
  const struct {
    OptimizerPointer all;
    absl::optional<float> decay;
    OptimizerPointer group;
  } cases[] = {
      {StochasticGradientDescent(rate), {}, StochasticGradientDescent(half)},
      {StochasticGradientDescent(0.5f), {}, StochasticGradientDescent(0.25f)},
      {Momentum(rate, 0.7f), {}, Momentum(half, 0.7f)},
      {Adam(rate, 0.8f, 0.9f, 0.1f), {}, Adam(half, 0.8f, 0.9f, 0.1f)},
      {AdamW(rate, 0.2f), {}, AdamW(half, 0.2f)},
      {AdamW(rate, 0.2f), 0.0f, AdamW(half, 0.0f)},
  };
  for (const auto& each : cases) {
    const OptimizerPointer made = each.all->ForGroup(0.5f, each.decay);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->name(), each.all->name());
    float weights[2] = {1, 1};
    float states[2][2] = {};
    for (int64_t i = 1; i <= 3; ++i) {
      const float gradient = 0.5f * static_cast<float>(i);
      EXPECT_EQ(made->RateAt(i), each.group->RateAt(i));
      for (const int one : {0, 1}) {
        float* const used[] = {&states[one][0], &states[one][1]};
        const Optimizer& optimizer = one == 0 ? *made : *each.group;
        optimizer.Apply(
            i, 1, &gradient, &weights[one],
            absl::MakeConstSpan(
                used, static_cast<size_t>(optimizer.states_per_weight())));
      }
      EXPECT_EQ(weights[0], weights[1]);
    }
  }
  EXPECT_EQ(StochasticGradientDescent(1)->ForGroup(1, 0.1f), nullptr);
  EXPECT_EQ(Momentum(1)->ForGroup(1, 0.1f), nullptr);
  EXPECT_EQ(Adam(1)->ForGroup(1, 0.1f), nullptr);
}

TEST(OptimizerTest, ParametersThatCannotTrainAreNamed) {
  const auto why = [](const OptimizerPointer& optimizer) {
    const absl::Status status = optimizer->CheckParameters();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(status.message());
  };
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  using ::testing::HasSubstr;
  EXPECT_THAT(why(StochasticGradientDescent(-1)), HasSubstr("rate is -1"));
  EXPECT_THAT(why(StochasticGradientDescent(kNaN)), HasSubstr("rate is nan"));
  EXPECT_THAT(why(Momentum(kInfinity)), HasSubstr("rate is inf"));
  EXPECT_THAT(why(Momentum(1, -0.5f)), HasSubstr("momentum is -0.5"));
  EXPECT_THAT(why(Adam(kNaN)), HasSubstr("rate is nan"));
  EXPECT_THAT(why(Adam(1, 1)), HasSubstr("first decay is 1"));
  EXPECT_THAT(why(Adam(1, 0, kNaN)), HasSubstr("second decay is nan"));
  EXPECT_THAT(why(Adam(1, 0, 0, -1)), HasSubstr("epsilon is -1"));
  EXPECT_THAT(StochasticGradientDescent(0)->CheckParameters(), IsOk());
  EXPECT_THAT(Momentum(0.1f, 0)->CheckParameters(), IsOk());
  EXPECT_THAT(Adam(1e-3f, 0, 0, 0)->CheckParameters(), IsOk());
}

TEST(OptimizerTest, EachIsDescribedWithItsNumbers) {
  EXPECT_EQ(StochasticGradientDescent(0.5f)->Description(), "SGD, rate 0.5");
  EXPECT_EQ(Momentum(LinearRate(0.5f, 0, 4), 0.25f)->Description(),
            "momentum 0.25, rate on a line from 0.5 to 0 in 4 iterations");
  EXPECT_EQ(Adam(0.5f, 0.25f, 0.75f, 0.125f)->Description(),
            "Adam, rate 0.5, decay of weights 0, decays of averages 0.25 and "
            "0.75, epsilon 0.125");
  EXPECT_EQ(AdamW(0.5f, 0.25f, 0.5f, 0.75f, 0)->Description(),
            "AdamW, rate 0.5, decay of weights 0.25, decays of averages 0.5 "
            "and 0.75, epsilon 0");
}

}  // namespace
}  // namespace footprint
