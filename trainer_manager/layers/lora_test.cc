#include "footprint/trainer_manager/layers/lora.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(LoraTest, AddsTheScaledProductOfTheMatrices) {
  LayerHarness harness(LoraFullyConnected(2, {{1, 0.5f}}), {{{1, 3}}});
  harness.Values(Role::kInput) = {1, 2, 3};
  harness.Values(Role::kRunningStatistic, 0) = {1, 10, 2, 20, 3, 30};
  harness.Values(Role::kRunningStatistic, 1) = {0.5, -0.5};
  harness.Values(Role::kWeight, 0) = {1, 0, -1};  // x A^T = -2
  harness.Values(Role::kWeight, 1) = {4, -8};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(10.5f, 147.5f));
}

TEST(LoraTest, ActsOnItsPartOfTheUnits) {
  LayerHarness harness(LoraFullyConnected(3, {{1, 1, 2, 3}}), {{{2, 1}}});
  harness.Values(Role::kInput) = {1, 2};
  harness.Values(Role::kRunningStatistic, 0) = {1, 1, 1};
  harness.Values(Role::kRunningStatistic, 1) = {0, 0, 0};
  harness.Values(Role::kWeight, 0) = {1};
  harness.Values(Role::kWeight, 1) = {100};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(1, 1, 101, 2, 2, 202));
}

// Of 70 rows, the last are in a block of their own.
TEST(LoraTest, BackwardMatchesCentralDifferences) {
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 35, 5}, Shape{1, 2, 2, 3}}) {
    for (const std::vector<LoraMatrices>& matrices :
         {std::vector<LoraMatrices>{{2, 0.5f}},
          std::vector<LoraMatrices>{{2, 2.0f, 0, 3}, {1, 0.25f, 2, 3}}}) {
      for (const bool bias : {true, false}) {
        LayerHarness harness(LoraFullyConnected(6, matrices, bias), {{shape}});
        EXPECT_EQ(harness.signature().statistics.size(), bias ? 2u : 1u);
        EXPECT_LT(harness.WorstGradientError(), 1e-3) << shape.ToString();
        EXPECT_LT(harness.WorstDerivativeError(), 1e-3) << shape.ToString();
      }
    }
  }
}

TEST(LoraTest, WithZerosItHasTheBitsOfTheLayerWithout) {
  const TensorType input = {{3, 30, 8}};
  LayerHarness base(FullyConnected(12), {input});
  LayerHarness lora(LoraFullyConnected(12, {{4, 2.0f}, {2, 1.0f, 1, 2}}),
                    {input});
  lora.Values(Role::kInput) = base.Values(Role::kInput);
  for (const int i : {0, 1}) {
    lora.Values(Role::kRunningStatistic, i) = base.Values(Role::kWeight, i);
    auto& zeros = lora.Values(Role::kWeight, 2 * i + 1);
    zeros.assign(zeros.size(), 0.0f);
  }
  lora.Values(Role::kOutputDerivative) = base.Values(Role::kOutputDerivative);
  for (LayerHarness* const harness : {&base, &lora}) {
    ASSERT_THAT(harness->Forward(), IsOk());
    harness->Backward();
  }
  EXPECT_EQ(lora.Values(Role::kOutput), base.Values(Role::kOutput));
  EXPECT_EQ(lora.Values(Role::kInputDerivative),
            base.Values(Role::kInputDerivative));
}

TEST(LoraTest, NeitherTrainsNorChangesTheBase) {
  LayerHarness harness(LoraFullyConnected(6, {{2, 1.0f}}), {{{4, 5}}});
  for (const StepUse* use :
       {&harness.signature().forward, &harness.signature().gradient,
        &harness.signature().derivative}) {
    for (const Operand& operand : use->writes) {
      EXPECT_NE(operand.role, Role::kRunningStatistic);
    }
  }
  ASSERT_EQ(harness.signature().weights.size(), 2u);
  EXPECT_EQ(harness.signature().weights[0].name, "lora_A");
  EXPECT_EQ(harness.signature().weights[1].name, "lora_B");
  EXPECT_EQ(LoraMatrixName({8, 1, 2, 3}, 'B'), "2of3.lora_B");
}

TEST(LoraTest, RecomputesItsBits) {
  LayerHarness harness(LoraFullyConnected(6, {{2, 1.5f}}), {{{70, 5}}});
  ASSERT_THAT(harness.Forward(), IsOk());
  const std::vector<float> before = harness.Values(Role::kOutput);
  ASSERT_THAT(harness.Recompute(), IsOk());
  EXPECT_EQ(harness.Values(Role::kOutput), before);
}

TEST(LoraTest, RefusesMatricesThatDoNotFit) {
  const float infinity = std::numeric_limits<float>::infinity();
  const struct {
    LoraMatrices matrices;
    const char* text;
  } kCases[] = {
      {{0, 1}, "rank 0 on a matrix of 3 x 6; a rank from 1 to 3"},
      {{4, 1}, "rank 4 on a matrix of 3 x 6; a rank from 1 to 3"},
      {{-1, 1}, "rank -1"},
      {{3, 1, 0, 3}, "rank 3 on a matrix of 3 x 2; a rank from 1 to 2"},
      {{1, 0}, "scale 0"},
      {{1, -1}, "scale -1"},
      {{1, infinity}, "scale inf"},
      {{1, std::nanf("")}, "scale nan"},
      {{1, 1, 3, 3}, "part 3 of 3 of 6 units"},
      {{1, 1, -1, 3}, "part -1 of 3"},
      {{1, 1, 0, 0}, "part 0 of 0"},
      {{1, 1, 0, 4}, "part 0 of 4 of 6 units"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Refusal(LoraFullyConnected(6, {c.matrices}), {{{2, 3}}}),
                StatusIs(kInvalid, HasSubstr(c.text)));
  }
  EXPECT_THAT(Refusal(LoraFullyConnected(6, {}), {{{2, 3}}}),
              StatusIs(kInvalid, HasSubstr("without matrices")));
  EXPECT_THAT(Refusal(LoraFullyConnected(0, {{1, 1}}), {{{2, 3}}}),
              StatusIs(kInvalid, HasSubstr("0 units")));
  EXPECT_THAT(Refusal(LoraFullyConnected(1, {{1, 1}}), {{{3}}}),
              StatusIs(kInvalid));
}

// Before a backend calculates with them.
TEST(LoraTest, RefusesSizesBeyond64Bits) {
  EXPECT_THAT(
      Refusal(LoraFullyConnected(int64_t{1} << 61, {{1, 1}}), {{{1, 8}}}),
      StatusIs(kInvalid));
  EXPECT_THAT(Refusal(LoraFullyConnected(int64_t{1} << 40, {{1, 1}}),
                      {{{1, int64_t{1} << 40}}}),
              StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace footprint
