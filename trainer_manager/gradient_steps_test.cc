#include "footprint/trainer_manager/gradient_steps.h"

#include <limits>
#include <vector>

#include "footprint/trainer_manager/math_backend.h"
#include "footprint/trainer_manager/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;

constexpr float kNoLimit = std::numeric_limits<float>::infinity();

// A step on vectors of two values.
class Step {
 public:
  Step& Add(Role role, int index, std::vector<float>* values, bool read,
            bool written) {
    slots_.push_back({{role, index}, read, written, &spec_, values->data()});
    return *this;
  }
  StepData data() const {
    return {slots_, NetworkMode::kTraining, /*seed=*/0, ReferenceMath()};
  }

 private:
  const TensorType spec_ = {{2}};
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
  ClipGradients(step.data(), 5);
  EXPECT_THAT(a, ElementsAre(3, 0));
  ClipGradients(step.data(), 1);
  EXPECT_FLOAT_EQ(a[0], 0.6f);
  EXPECT_FLOAT_EQ(b[1], 0.8f);
}

TEST(GradientStepsTest, AppliesEachGradientCutByValue) {
  std::vector<float> gradient = {3, -0.5f};
  std::vector<float> weight = {1, 1};
  Step step;
  step.Add(Role::kGradient, 0, &gradient, true, true)
      .Add(Role::kWeight, 0, &weight, false, true);
  const OptimizerPointer descent = StochasticGradientDescent(1);
  ApplyGradients(step.data(), *descent, kNoLimit, 1);
  EXPECT_THAT(weight, ElementsAre(-2, 1.5f));
  ApplyGradients(step.data(), *descent, 1, 2);
  EXPECT_THAT(weight, ElementsAre(-3, 2));
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
  ApplyGradients(step.data(), *momentum, kNoLimit, 1);
  EXPECT_THAT(states[0], ElementsAre(1, 1));
  EXPECT_THAT(states[1], ElementsAre(2, 2));
}

}  // namespace
}  // namespace footprint
