#include "footprint/trainer_manager/layers/convolution2d.h"

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

Convolution2dOptions Options(int64_t channels, int64_t kernel, int64_t stride,
                             int64_t padding, bool bias) {
  Convolution2dOptions options;
  options.channels = channels;
  options.kernel = kernel;
  options.stride = stride;
  options.padding = padding;
  options.bias = bias;
  return options;
}

TEST(Convolution2dTest, SumsItsWindow) {
  LayerHarness harness(Convolution2d(Options(1, 2, 1, 0, true)),
                       {{{1, 1, 2, 3}}});
  harness.Values(Role::kInput) = {1, 2, 3, 4, 5, 6};
  harness.Values(Role::kWeight, 0) = {1, 10, 100, 1000};
  harness.Values(Role::kWeight, 1) = {0.5};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(5421.5f, 6532.5f));
}

TEST(Convolution2dTest, PaddingIsZeros) {
  LayerHarness harness(Convolution2d(Options(1, 3, 2, 1, false)),
                       {{{1, 1, 2, 2}}});
  harness.Values(Role::kInput) = {1, 2, 3, 4};
  harness.Values(Role::kWeight, 0) = {9, 9, 9, 9, 1, 10, 9, 100, 1000};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput), ElementsAre(4321));
}

TEST(Convolution2dTest, BackwardMatchesCentralDifferences) {
  for (int64_t kernel = 1; kernel <= 4; ++kernel) {
    for (int64_t stride = 1; stride <= 3; ++stride) {
      for (int64_t padding = 0; padding < kernel; ++padding) {
        LayerHarness harness(
            Convolution2d(Options(3, kernel, stride, padding, padding != 1)),
            {{{2, 2, 5, 4}}});
        EXPECT_LT(harness.WorstGradientError(), 1e-3)
            << kernel << " " << stride << " " << padding;
        EXPECT_LT(harness.WorstDerivativeError(), 1e-3)
            << kernel << " " << stride << " " << padding;
      }
    }
  }
}

TEST(Convolution2dTest, GroupedBackwardMatchesCentralDifferences) {
  for (const int64_t groups : {2, 4}) {
    for (int64_t stride = 1; stride <= 2; ++stride) {
      Convolution2dOptions options = Options(8, 3, stride, 1, groups == 2);
      options.groups = groups;
      LayerHarness harness(Convolution2d(options), {{{2, 4, 5, 4}}});
      EXPECT_EQ(harness.Values(Role::kWeight, 0).size(),
                static_cast<size_t>(8 * 4 / groups * 9));
      EXPECT_LT(harness.WorstGradientError(), 1e-3) << groups << stride;
      EXPECT_LT(harness.WorstDerivativeError(), 1e-3) << groups << stride;
    }
  }
}

// A grouped convolution equals one whose filters are zero outside their group.
TEST(Convolution2dTest, GroupsAreFiltersThatAreZeroElsewhere) {
  Convolution2dOptions options = Options(6, 3, 1, 1, true);
  LayerHarness whole(Convolution2d(options), {{{3, 4, 5, 6}}});
  options.groups = 2;
  LayerHarness grouped(Convolution2d(options), {{{3, 4, 5, 6}}});
  std::vector<float>& weight = whole.Values(Role::kWeight, 0);
  const std::vector<float>& own = grouped.Values(Role::kWeight, 0);
  for (size_t o = 0; o < 6; ++o) {
    for (size_t i = 0; i < 4; ++i) {
      for (size_t k = 0; k < 9; ++k) {
        weight[(o * 4 + i) * 9 + k] =
            i / 2 == o / 3 ? own[(o * 2 + i % 2) * 9 + k] : 0.0f;
      }
    }
  }
  for (const Role role : {Role::kInput, Role::kOutputDerivative}) {
    whole.Values(role) = grouped.Values(role);
  }
  whole.Values(Role::kWeight, 1) = grouped.Values(Role::kWeight, 1);
  ASSERT_THAT(whole.Forward(), IsOk());
  ASSERT_THAT(grouped.Forward(), IsOk());
  whole.Backward();
  grouped.Backward();
  for (const Role role : {Role::kOutput, Role::kInputDerivative}) {
    EXPECT_THAT(grouped.Values(role),
                testing::Pointwise(FloatNear(1e-5f), whole.Values(role)));
  }
  const std::vector<float>& gradient = whole.Values(Role::kGradient, 0);
  for (size_t o = 0; o < 6; ++o) {
    for (size_t i = 0; i < 18; ++i) {
      EXPECT_NEAR(grouped.Values(Role::kGradient, 0)[o * 18 + i],
                  gradient[o * 36 + o / 3 * 18 + i], 1e-5);
    }
  }
  EXPECT_EQ(grouped.Values(Role::kGradient, 1),
            whole.Values(Role::kGradient, 1));
}

TEST(Convolution2dTest, RefusesGroupsThatDivideNoChannels) {
  const std::vector<TensorType> image = {{{1, 4, 4, 4}}};
  Convolution2dOptions options = Options(6, 3, 1, 1, true);
  for (const int64_t groups : {0, -1, 3, 4}) {
    options.groups = groups;
    EXPECT_THAT(
        std::string(Refusal(Convolution2d(options), image).message()),
        HasSubstr("4 input channels and 6 output channels cannot be divided"))
        << groups;
  }
}

TEST(Convolution2dTest, RefusesWhatDoesNotFit) {
  const std::vector<TensorType> image = {{{1, 1, 4, 4}}};
  EXPECT_THAT(
      std::string(
          Refusal(Convolution2d(Options(1, 5, 1, 0, true)), image).message()),
      HasSubstr("does not fit an input of shape [1, 1, 4, 4]"));
  EXPECT_THAT(Refusal(Convolution2d(Options(0, 3, 1, 0, true)), image),
              Not(IsOk()));
  EXPECT_THAT(Refusal(Convolution2d(Options(1, 3, 0, 0, true)), image),
              Not(IsOk()));
  EXPECT_THAT(Refusal(Convolution2d(Options(1, 3, 1, 3, true)), image),
              Not(IsOk()));
  EXPECT_THAT(Refusal(Convolution2d(Options(1, 3, 1, -1, true)), image),
              Not(IsOk()));
  EXPECT_THAT(Refusal(Convolution2d(Options(1, 3, 1, 0, true)), {{{1, 4, 4}}}),
              Not(IsOk()));
}

// Sizes are checked before a backend calculates with them.
TEST(Convolution2dTest, RefusesSizesBeyond64Bits) {
  const absl::Status status =
      Refusal(Convolution2d(Options(1 << 20, 1, 1, 0, true)),
              {{{int64_t{1} << 41, 1, 2, 2}}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace footprint
