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

// Before a backend calculates with them.
TEST(Convolution2dTest, RefusesSizesBeyond64Bits) {
  const absl::Status status =
      Refusal(Convolution2d(Options(1 << 20, 1, 1, 0, true)),
              {{{int64_t{1} << 41, 1, 2, 2}}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace footprint
