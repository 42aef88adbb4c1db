#include "footprint/trainer_manager/layers/attention.h"

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
using ::testing::Not;

AttentionOptions Options(int64_t heads, bool causal) {
  AttentionOptions options;
  options.heads = heads;
  options.causal = causal;
  return options;
}

TEST(AttentionTest, EqualKeysMeanTheMeanOfTheValues) {
  LayerHarness harness(Attention(Options(1, false)), {{{1, 2, 3}}});
  harness.Values(Role::kInput) = {5, 1, 10, 7, 1, 30};  // q, k, v each
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput),
              ElementsAre(FloatNear(20, 1e-4f), FloatNear(20, 1e-4f)));
}

TEST(AttentionTest, CausalPlacesSeeNoLaterOne) {
  LayerHarness harness(Attention(Options(1, true)), {{{1, 2, 3}}});
  harness.Values(Role::kInput) = {5, 1, 10, 7, 1, 30};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput),
              ElementsAre(FloatNear(10, 1e-4f), FloatNear(20, 1e-4f)));
}

TEST(AttentionTest, DerivativesMatchCentralDifferences) {
  for (const int64_t heads : {1, 2, 4}) {
    for (const bool causal : {false, true}) {
      LayerHarness harness(Attention(Options(heads, causal)), {{{2, 5, 24}}});
      EXPECT_LT(harness.WorstDerivativeError(), 2e-3) << heads << causal;
    }
  }
}

TEST(AttentionTest, LargeScoresDoNotOverflow) {
  LayerHarness harness(Attention(Options(1, false)), {{{1, 2, 3}}});
  harness.Values(Role::kInput) = {1000, 1000, 1, 1000, -1000, 2};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(1, 1));
}

TEST(AttentionTest, RefusesWidthsThatHeadsDoNotShare) {
  EXPECT_THAT(
      std::string(
          Refusal(Attention(Options(4, false)), {{{1, 2, 18}}}).message()),
      HasSubstr("4 heads"));
  EXPECT_THAT(Refusal(Attention(Options(1, false)), {{{1, 2, 4}}}),
              Not(IsOk()));
  EXPECT_THAT(Refusal(Attention(Options(0, false)), {{{1, 2, 3}}}),
              Not(IsOk()));
}

}  // namespace
}  // namespace footprint
