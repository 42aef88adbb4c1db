#include "footprint/trainer_manager/runtime/gradient_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;

constexpr float kNoLimit = std::numeric_limits<float>::infinity();

// A step on vectors of two values, or of another number.
class Step {
 public:
  explicit Step(int64_t values = 2, const MathBackend& math = ReferenceMath())
      : spec_({{values}}), math_(math) {}

  Step& Add(Role role, int index, std::vector<float>* values, bool read,
            bool written) {
    slots_.push_back({{role, index}, read, written, &spec_, values->data()});
    return *this;
  }
  StepData data() const {
    return {slots_, NetworkMode::kTraining, /*seed=*/0, math_};
  }

 private:
  const TensorType spec_;
  const MathBackend& math_;
  std::vector<StepData::Slot> slots_;
};

TEST(GradientStepsTest, AddsTwoTensorsAlsoInPlace) {
  std::vector<float> a = {1, 2};
  std::vector<float> b = {10, 20};
  Step step;
  step.Add(Role::kInput, 0, &a, true, false)
      .Add(Role::kInput, 1, &b, true, false)
      .Add(Role::kOutput, 0, &a, false, true);
  AddTensors(step.data());
  EXPECT_THAT(a, ElementsAre(11, 22));
}

TEST(GradientStepsTest, AccumulatesToTheMean) {
  std::vector<float> gradient = {1, 2};
  std::vector<float> sum = {99, 99};  // of the last iteration
  Step step;
  step.Add(Role::kInput, 0, &gradient, true, false)
      .Add(Role::kOutput, 0, &sum, true, true);
  AccumulateGradient(step.data(), 0, 2);
  EXPECT_THAT(sum, ElementsAre(1, 2));
  gradient = {3, 6};
  Step last;
  last.Add(Role::kInput, 0, &gradient, true, false)
      .Add(Role::kOutput, 0, &sum, true, true);
  AccumulateGradient(last.data(), 1, 2);
  EXPECT_THAT(sum, ElementsAre(2, 4));
}

TEST(GradientStepsTest, ClipsToANormOverAllGradients) {
  std::vector<float> a = {3, 0};
  std::vector<float> b = {0, 4};
  Step step;
  step.Add(Role::kGradient, 0, &a, true, true)
      .Add(Role::kGradient, 1, &b, true, true);
  EXPECT_TRUE(ClipGradients(step.data(), 5));
  EXPECT_THAT(a, ElementsAre(3, 0));
  EXPECT_TRUE(ClipGradients(step.data(), 1));
  EXPECT_FLOAT_EQ(a[0], 0.6f);
  EXPECT_FLOAT_EQ(b[1], 0.8f);
  // The squares of the largest floats must not overflow.
  a = {3e38f, -3e38f};
  EXPECT_TRUE(ClipGradients(step.data(), kNoLimit));
  for (const float value : {kNoLimit, -kNoLimit, std::nanf("")}) {
    b = {1, value};
    EXPECT_FALSE(ClipGradients(step.data(), 1));
    EXPECT_EQ(a[0], 3e38f);
    EXPECT_EQ(b[0], 1);
  }
}

TEST(GradientStepsTest, AppliesEachGradientCutByValue) {
  std::vector<float> gradient = {3, -0.5f};
  std::vector<float> weight = {1, 1};
  Step step;
  step.Add(Role::kGradient, 0, &gradient, true, true)
      .Add(Role::kWeight, 0, &weight, false, true);
  const OptimizerPointer descent = StochasticGradientDescent(1);
  ASSERT_THAT(PrepareGradients(step.data(), *descent, kNoLimit, 1), IsOk());
  EXPECT_THAT(weight, ElementsAre(1, 1));
  EXPECT_THAT(ApplyGradients(step.data(), *descent, 1), IsOk());
  EXPECT_THAT(weight, ElementsAre(-2, 1.5f));
  ASSERT_THAT(PrepareGradients(step.data(), *descent, 1, 2), IsOk());
  EXPECT_THAT(ApplyGradients(step.data(), *descent, 2), IsOk());
  EXPECT_THAT(weight, ElementsAre(-3, 2));
}

TEST(GradientStepsTest, WhatIsNotFiniteIsRefused) {
  std::vector<float> fine = {1, 1};
  std::vector<float> gradient = {3, kNoLimit};
  std::vector<float> weights[2] = {{1, 1}, {1, 1}};
  Step step;
  step.Add(Role::kGradient, 0, &fine, true, true)
      .Add(Role::kWeight, 0, &weights[0], false, true)
      .Add(Role::kGradient, 1, &gradient, true, true)
      .Add(Role::kWeight, 1, &weights[1], false, true);
  const OptimizerPointer descent = StochasticGradientDescent(1);
  for (const float clip : {kNoLimit, 1.0f}) {
    const absl::Status status =
        PrepareGradients(step.data(), *descent, clip, 1);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_EQ(status.message(), "gradient 1 is inf at index 1");
  }
  gradient[1] = -3e38f;
  weights[1][1] = 3e38f;
  const absl::Status status =
      PrepareGradients(step.data(), *descent, kNoLimit, 1);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("gradient 1 is finite, but would make"));
  EXPECT_THAT(PrepareGradients(step.data(), *descent, 1, 1), IsOk());
}

TEST(GradientStepsTest, GivesEachWeightItsOwnStates) {
  std::vector<float> gradients[2] = {{1, 1}, {2, 2}};
  std::vector<float> weights[2] = {{0, 0}, {0, 0}};
  std::vector<float> states[2] = {{0, 0}, {0, 0}};
  Step step;
  for (int i = 0; i < 2; ++i) {
    step.Add(Role::kGradient, i, &gradients[i], true, true)
        .Add(Role::kWeight, i, &weights[i], false, true)
        .Add(Role::kOptimizerState, i, &states[i], false, true);
  }
  const OptimizerPointer momentum = Momentum(0.1f);
  ASSERT_EQ(momentum->states_per_weight(), 1);
  EXPECT_THAT(ApplyGradients(step.data(), *momentum, 1), IsOk());
  EXPECT_THAT(states[0], ElementsAre(1, 1));
  EXPECT_THAT(states[1], ElementsAre(2, 2));
}

constexpr int64_t kManyValues = 100003;

// Trains a weight of kManyValues for two iterations. Returns the weight and its
// states, one after the other.
std::vector<float> Train(const Optimizer& optimizer, const MathBackend& math) {
  std::vector<float> gradient;
  for (int64_t i = 0; i < kManyValues; ++i) {
    gradient.push_back(static_cast<float>(i * 7919 % 2003 - 1001) / 1009.0f);
  }
  std::vector<float> weight = gradient;
  std::vector<std::vector<float>> states(
      static_cast<size_t>(optimizer.states_per_weight()),
      std::vector<float>(kManyValues));
  Step step(kManyValues, math);
  step.Add(Role::kGradient, 0, &gradient, true, true)
      .Add(Role::kWeight, 0, &weight, false, true);
  for (size_t i = 0; i < states.size(); ++i) {
    step.Add(Role::kOptimizerState, static_cast<int>(i), &states[i], false,
             true);
  }
  for (const int64_t iteration : {1, 2}) {
    EXPECT_THAT(PrepareGradients(step.data(), optimizer, kNoLimit, iteration),
                IsOk());
    EXPECT_THAT(ApplyGradients(step.data(), optimizer, iteration), IsOk());
  }
  for (const std::vector<float>& state : states) {
    weight.insert(weight.end(), state.begin(), state.end());
  }
  return weight;
}

TEST(GradientStepsTest, ThreadsGiveTheBitsOfOneThread) {
  const auto team = MakeTeamBackend(3);
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(0.1f), Momentum(0.1f), Adam(0.1f),
        AdamW(0.1f)}) {
    EXPECT_EQ(Train(*optimizer, *team), Train(*optimizer, HighwayBackend()))
        << optimizer->name();
  }
}

TEST(GradientStepsTest, EachThreadLooksForValuesThatAreNotFinite) {
  const auto team = MakeTeamBackend(3);
  for (const int64_t index : {int64_t{5}, kManyValues / 2, kManyValues - 1}) {
    std::vector<float> gradient(kManyValues);
    std::vector<float> weight(kManyValues);
    gradient[static_cast<size_t>(index)] = kNoLimit;
    Step step(kManyValues, *team);
    step.Add(Role::kGradient, 0, &gradient, true, true)
        .Add(Role::kWeight, 0, &weight, false, true);
    EXPECT_THAT(
        std::string(PrepareGradients(step.data(), *StochasticGradientDescent(1),
                                     kNoLimit, 1)
                        .message()),
        ::testing::HasSubstr(absl::StrCat("at index ", index)));
  }
}

// The step depends on all elements, as in rules that use a weight's norm.
class LargestFirst final : public Optimizer {
 public:
  int states_per_weight() const override { return 0; }
  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const>) const override {
    const float largest = *std::max_element(gradient, gradient + elements);
    for (int64_t i = 0; i < elements; ++i) weight[i] -= largest * gradient[i];
  }
};

TEST(GradientStepsTest, ARuleOverTheWholeWeightIsNotDivided) {
  const auto team = MakeTeamBackend(3);
  EXPECT_EQ(Train(LargestFirst(), *team),
            Train(LargestFirst(), HighwayBackend()));
}

}  // namespace
}  // namespace footprint
