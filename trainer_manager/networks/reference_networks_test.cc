#include "footprint/trainer_manager/networks/reference_networks.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns the number of trained weights. The expected sums come from the
// papers' tables or were computed by hand.
int64_t WeightCount(const Network& network) {
  const absl::StatusOr<ResolvedNetwork> resolved =
      ResolveNetwork(network, NetworkMode::kTraining);
  EXPECT_THAT(resolved, IsOk());
  if (!resolved.ok()) return 0;
  int64_t count = 0;
  for (const auto& layer : resolved->layers) {
    for (const WeightSpec& weight : layer.signature.weights) {
      count += weight.spec.shape.elements();
    }
  }
  return count;
}

TEST(ReferenceNetworksTest, PerceptronsHaveAWeightForEachPairAndABias) {
  EXPECT_EQ(WeightCount(TabularMlp(4)), 14 * 50 + 51 * 50 + 51 * 1);
  EXPECT_EQ(WeightCount(DigitMlp(4)), 785 * 512 + 513 * 512 + 513 * 10);
}

TEST(ReferenceNetworksTest, LeNetsAreThoseOfTheirTables) {
  EXPECT_EQ(WeightCount(LeNet5(4)), 61706);
  EXPECT_EQ(WeightCount(SmallLeNet(4)),
            26 * 6 + (6 * 25 + 1) * 12 + (4 * 4 * 12 + 1) * 10);
}

// The convolutions are those of the paper's configuration D.
TEST(ReferenceNetworksTest, Vgg16HasThirteenConvolutionsAndASmallHead) {
  EXPECT_EQ(WeightCount(Vgg16(2)), 14714688 + 513 * 256 + 2 * 256 + 257 * 100);
}

TEST(ReferenceNetworksTest, ResNet18HasTwoBlocksAStage) {
  int64_t expected = 3 * 64 * 9 + 2 * 64 + 513 * 100;
  int64_t before = 64;
  for (const int64_t channels : {64, 128, 256, 512}) {
    const int64_t shortcut = channels == before ? 0 : before * channels;
    expected += shortcut + before * channels * 9 + 3 * channels * channels * 9 +
                8 * channels;
    before = channels;
  }
  EXPECT_EQ(WeightCount(ResNet18(2)), expected);
}

TEST(ReferenceNetworksTest, TheTransformerHasTwoLayersOfWidth128) {
  const int64_t layer =
      2 * 2 * 128 + 129 * 3 * 128 + 129 * 128 + 129 * 512 + 513 * 128;
  EXPECT_EQ(WeightCount(SmallTransformer(2)),
            1000 * 128 + 64 * 128 + 2 * layer + 2 * 128 + 129 * 1000);
}

}  // namespace
}  // namespace footprint
