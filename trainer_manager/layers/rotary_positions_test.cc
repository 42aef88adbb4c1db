#include "footprint/trainer_manager/layers/rotary_positions.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

RotaryOptions Options(int64_t heads, int64_t head_width, double base = 10000) {
  RotaryOptions options;
  options.heads = heads;
  options.head_width = head_width;
  options.base = base;
  return options;
}

TEST(RotaryPositionsTest, EachPairIsTurnedByItsAngle) {
  LayerHarness harness(RotaryPositions(Options(1, 4, 100)), {{{1, 2, 5}}});
  harness.Values(Role::kInput) = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5};
  ASSERT_THAT(harness.Forward(), IsOk());
  // The second position turns its pairs by 1 and by 0.1.
  const double c = std::cos(1.0), s = std::sin(1.0);
  const double c2 = std::cos(0.1), s2 = std::sin(0.1);
  const std::vector<float> expected = {1,
                                       2,
                                       3,
                                       4,
                                       5,
                                       static_cast<float>(c - 3 * s),
                                       static_cast<float>(2 * c2 - 4 * s2),
                                       static_cast<float>(3 * c + s),
                                       static_cast<float>(4 * c2 + 2 * s2),
                                       5};
  EXPECT_THAT(harness.Values(Role::kOutput),
              Pointwise(FloatNear(1e-6f), expected));
}

TEST(RotaryPositionsTest, DerivativesMatchCentralDifferences) {
  for (const int64_t heads : {1, 2, 3}) {
    LayerHarness harness(RotaryPositions(Options(heads, 4)), {{{2, 5, 13}}});
    EXPECT_LT(harness.WorstDerivativeError(), 2e-3) << heads;
  }
}

TEST(RotaryPositionsTest, OptionsThatDoNotFitAreRefused) {
  const auto refusal = [](const RotaryOptions& options) {
    return std::string(
        Refusal(RotaryPositions(options), {{{2, 3, 12}}}).message());
  };
  EXPECT_EQ(refusal(Options(3, 4)), "");
  EXPECT_EQ(refusal(Options(1, 12, 1)), "");
  EXPECT_THAT(refusal(Options(4, 4)), HasSubstr("4 heads of width 4 do not"));
  EXPECT_THAT(refusal(Options(0, 4)), HasSubstr("0 heads of width 4"));
  EXPECT_THAT(refusal(Options(1, 3)), HasSubstr("even width"));
  EXPECT_THAT(refusal(Options(1, 0)), HasSubstr("even width"));
  EXPECT_THAT(refusal(Options(INT64_MAX, 4)), HasSubstr("do not fit"));
  EXPECT_THAT(refusal(Options(1, INT64_MAX - 1)), HasSubstr("do not fit"));
  EXPECT_THAT(refusal(Options(1, 4, 0.5)), HasSubstr("the base 0.5"));
  EXPECT_THAT(refusal(Options(1, 4, std::nan(""))), HasSubstr("the base nan"));
  EXPECT_THAT(refusal(Options(1, 4, std::numeric_limits<double>::infinity())),
              HasSubstr("the base inf"));
  EXPECT_NE(Refusal(RotaryPositions(Options(1, 2)), {{{2, 4}}}),
            absl::OkStatus());
}

}  // namespace
}  // namespace footprint
