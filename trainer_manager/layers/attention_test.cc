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

AttentionOptions Options(int64_t heads, bool causal, int64_t key_heads = 0) {
  AttentionOptions options;
  options.heads = heads;
  options.key_heads = key_heads;
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

// Copying the keys and values to each of the heads that share them gives the
// same results as a layer in which each head has its own.
TEST(AttentionTest, HeadsOfAGroupShareKeysAndValues) {
  constexpr int64_t kWidth = 3, kRows = 10;
  LayerHarness grouped(Attention(Options(4, true, 2)), {{{2, 5, 8 * kWidth}}});
  LayerHarness single(Attention(Options(4, true)), {{{2, 5, 12 * kWidth}}});
  // The part of the wide input with the head `part` has the columns of `from`.
  const int64_t from[] = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7};
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t part = 0; part < 12; ++part) {
      for (int64_t c = 0; c < kWidth; ++c) {
        single.Values(Role::kInput)[(row * 12 + part) * kWidth + c] =
            grouped.Values(Role::kInput)[(row * 8 + from[part]) * kWidth + c];
      }
    }
  }
  single.Values(Role::kOutputDerivative) =
      grouped.Values(Role::kOutputDerivative);
  for (LayerHarness* each : {&grouped, &single}) {
    ASSERT_THAT(each->Forward(), IsOk());
    each->Backward();
  }
  EXPECT_EQ(grouped.Values(Role::kOutput), single.Values(Role::kOutput));
  std::vector<float> sums(kRows * 8 * kWidth);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t part = 0; part < 12; ++part) {
      for (int64_t c = 0; c < kWidth; ++c) {
        sums[(row * 8 + from[part]) * kWidth + c] += single.Values(
            Role::kInputDerivative)[(row * 12 + part) * kWidth + c];
      }
    }
  }
  EXPECT_EQ(grouped.Values(Role::kInputDerivative), sums);
}

TEST(AttentionTest, DerivativesOfGroupsMatchCentralDifferences) {
  for (const int64_t key_heads : {1, 2, 4}) {
    const int64_t features = 3 * (4 + 2 * key_heads);
    LayerHarness harness(Attention(Options(4, true, key_heads)),
                         {{{2, 5, features}}});
    EXPECT_EQ(harness.signature().output.shape, Shape({2, 5, 12}));
    EXPECT_LT(harness.WorstDerivativeError(), 2e-3) << key_heads;
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
  EXPECT_THAT(Refusal(Attention(Options(INT64_MAX, false)), {{{1, 2, 3}}}),
              Not(IsOk()));
  const auto refusal = [](int64_t heads, int64_t key_heads) {
    return std::string(
        Refusal(Attention(Options(heads, false, key_heads)), {{{1, 2, 16}}})
            .message());
  };
  EXPECT_EQ(refusal(4, 2), "");
  EXPECT_THAT(refusal(4, 3), HasSubstr("4 heads with 3 heads of keys"));
  EXPECT_THAT(refusal(4, -1), HasSubstr("4 heads with -1 heads of keys"));
  EXPECT_THAT(refusal(2, 4), HasSubstr("2 heads with 4 heads of keys"));
  EXPECT_THAT(refusal(4, 1), HasSubstr("a multiple of 6"));
}

}  // namespace
}  // namespace footprint
