#include "footprint/trainer_manager/layers/fully_connected.h"

#include <cmath>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

TEST(FullyConnectedTest, MultipliesAndAdds) {
  LayerHarness harness(FullyConnected(2), {{{1, 3}}});
  harness.Values(Role::kInput) = {1, 2, 3};
  harness.Values(Role::kWeight, 0) = {1, 10, 2, 20, 3, 30};
  harness.Values(Role::kWeight, 1) = {0.5, -0.5};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(14.5f, 139.5f));
}

TEST(FullyConnectedTest, WithoutABiasItOnlyMultiplies) {
  LayerHarness harness(FullyConnected(2, /*bias=*/false), {{{1, 3}}});
  EXPECT_EQ(harness.signature().weights.size(), 1u);
  harness.Values(Role::kInput) = {1, 2, 3};
  harness.Values(Role::kWeight, 0) = {1, 10, 2, 20, 3, 30};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(14, 140));
}

TEST(FullyConnectedTest, BackwardMatchesCentralDifferences) {
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 3, 5}, Shape{1, 2, 2, 3}}) {
    for (const bool bias : {true, false}) {
      LayerHarness harness(FullyConnected(6, bias), {{shape}});
      EXPECT_LT(harness.WorstGradientError(), 1e-3) << shape.ToString();
      EXPECT_LT(harness.WorstDerivativeError(), 1e-3) << shape.ToString();
    }
  }
}

TEST(FullyConnectedTest, RefusesNoUnitsAndAVector) {
  EXPECT_THAT(std::string(Refusal(FullyConnected(0), {{{1, 3}}}).message()),
              HasSubstr("0 units"));
  EXPECT_THAT(std::string(Refusal(FullyConnected(1), {{{3}}}).message()),
              HasSubstr("[3]"));
}

// Sizes are checked before a backend calculates with them.
TEST(FullyConnectedTest, RefusesSizesBeyond64Bits) {
  const absl::Status status =
      Refusal(FullyConnected(int64_t{1} << 61), {{{1, 8}}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace footprint
