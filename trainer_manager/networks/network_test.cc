#include "footprint/trainer_manager/networks/network.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Network TwoLayers() {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc", FullyConnected(5), {"x"});
  network.AddLayer("relu", Relu(), {"fc"});
  network.AddLayer("loss", MeanSquaredError(), {"relu"});
  return network;
}

std::string Error(const Network& network,
                  NetworkMode mode = NetworkMode::kTraining) {
  const auto resolved = ResolveNetwork(network, mode);
  return resolved.ok() ? "" : resolved.status().ToString();
}

TEST(NetworkTest, InfersShapes) {
  const auto resolved = ResolveNetwork(TwoLayers(), NetworkMode::kTraining);
  ASSERT_THAT(resolved, IsOk());
  ASSERT_EQ(resolved->layers.size(), 3u);
  EXPECT_EQ(resolved->layers[0].signature.output.shape, Shape({4, 5}));
  EXPECT_EQ(resolved->layers[2].signature.label->shape, Shape({4, 5}));
  EXPECT_THAT(resolved->outputs, ElementsAre(2));  // relu
}

TEST(NetworkTest, InferenceHasNoLoss) {
  const auto resolved = ResolveNetwork(TwoLayers(), NetworkMode::kInference);
  ASSERT_THAT(resolved, IsOk());
  ASSERT_EQ(resolved->layers.size(), 2u);
  EXPECT_THAT(resolved->outputs, ElementsAre(2));
}

TEST(NetworkTest, LayersMayComeInAnyOrder) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<int> order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    std::shuffle(order.begin(), order.end(), random);
    Network network;
    network.AddInput("0", {{1, 2}});
    for (const int i : order) {
      network.AddLayer(std::to_string(i + 1), Relu(), {std::to_string(i)});
    }
    const auto resolved = ResolveNetwork(network, NetworkMode::kInference);
    ASSERT_THAT(resolved, IsOk());
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(resolved->layers[i].name, std::to_string(i + 1));
      EXPECT_THAT(resolved->layers[i].inputs, ElementsAre(i));
    }
  }
}

TEST(NetworkTest, NamesTheLayersOfACycle) {
  Network network = TwoLayers();
  network.AddLayer("a", Add(), {"x", "c"});
  network.AddLayer("b", Relu(), {"a"});
  network.AddLayer("c", Relu(), {"b"});
  network.AddLayer("after", Relu(), {"c"});
  const std::string error = Error(network);
  EXPECT_THAT(error, HasSubstr("INVALID_ARGUMENT: the network has a cycle"));
  EXPECT_THAT(error, HasSubstr("a -> b -> c"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("after")));
}

// The search begins at what only reads the cycle.
TEST(NetworkTest, NamesNoLayerThatOnlyReadsACycle) {
  Network network = TwoLayers();
  network.AddLayer("behind", Relu(), {"next"});
  network.AddLayer("next", Relu(), {"c"});
  network.AddLayer("b", Relu(), {"c"});
  network.AddLayer("c", Relu(), {"b"});
  const std::string error = Error(network);
  EXPECT_THAT(error,
              ::testing::EndsWith("the network has a cycle: c -> b -> c"));
}

TEST(NetworkTest, NamesALayerThatFeedsItself) {
  Network network;
  network.AddLayer("self", Relu(), {"self"});
  EXPECT_THAT(Error(network), HasSubstr("self -> self"));
}

TEST(NetworkTest, RefusesAnUnknownLayer) {
  Network network = TwoLayers();
  network.AddLayer("late", Relu(), {"nowhere"});
  EXPECT_THAT(Error(network),
              HasSubstr("NOT_FOUND: layer \"late\": its input \"nowhere\""));
}

TEST(NetworkTest, RefusesANameTwiceAndNone) {
  Network network = TwoLayers();
  network.AddLayer("x", Relu(), {"fc"});
  EXPECT_THAT(Error(network), HasSubstr("ALREADY_EXISTS"));
  Network nameless;
  nameless.AddLayer("", Relu(), {""});
  EXPECT_THAT(Error(nameless), HasSubstr("INVALID_ARGUMENT"));
}

TEST(NetworkTest, NamesTheLayerOfAShapeMismatch) {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddInput("y", {{4, 2}});
  network.AddLayer("sum", Add(), {"x", "y"});
  EXPECT_THAT(Error(network, NetworkMode::kInference),
              HasSubstr("layer \"sum\": cannot add [4, 2] to [4, 3]"));
}

TEST(NetworkTest, RefusesSizesOfZeroBelowItAndBeyond64Bits) {
  for (const int64_t extent : {0, -7}) {
    Network network;
    network.AddInput("x", {{4, extent}});
    network.AddLayer("relu", Relu(), {"x"});
    EXPECT_THAT(Error(network), HasSubstr("input \"x\": shape [4, "));
  }
  Network wide;
  wide.AddInput("x", {{1, int64_t{1} << 40}});
  wide.AddLayer("fc", FullyConnected(int64_t{1} << 40), {"x"});
  EXPECT_THAT(Error(wide, NetworkMode::kInference),
              HasSubstr("OUT_OF_RANGE: layer \"fc\""));
}

TEST(NetworkTest, TrainingNeedsOneLossThatAllLayersLeadTo) {
  Network none;
  none.AddInput("x", {{4, 3}});
  none.AddLayer("relu", Relu(), {"x"});
  EXPECT_THAT(Error(none), HasSubstr("no loss"));
  EXPECT_THAT(Error(none, NetworkMode::kInference), "");
  Network two = TwoLayers();
  two.AddLayer("loss2", MeanSquaredError(), {"fc"});
  EXPECT_THAT(Error(two), HasSubstr("\"loss2\" is a second loss"));
  Network dead = TwoLayers();
  dead.AddLayer("dead", Relu(), {"fc"});
  EXPECT_THAT(Error(dead), HasSubstr("\"dead\" leads to no loss"));
  Network after = TwoLayers();
  after.AddLayer("after", Relu(), {"loss"});
  EXPECT_THAT(Error(after, NetworkMode::kInference),
              HasSubstr("\"after\" reads the loss"));
  EXPECT_THAT(Error(Network()), HasSubstr("no layer"));
}

TEST(NetworkTest, SharesWeightsOnlyWithAnEarlierLayerOfTheSameShapes) {
  const auto resolve = [](int64_t units, const std::string& weights_of) {
    Network network;
    network.AddInput("x", {{2, 3}});
    network.AddLayer("first", FullyConnected(3), {"x"});
    network.AddLayer("second", FullyConnected(units), {"first"}, weights_of);
    network.AddLayer("loss", MeanSquaredError(), {"second"});
    return ResolveNetwork(network, NetworkMode::kTraining);
  };
  ASSERT_THAT(resolve(3, "first"), IsOk());
  EXPECT_EQ(resolve(3, "first")->layers[1].weights_of, 0u);
  EXPECT_EQ(resolve(3, "")->layers[1].weights_of, 1u);
  EXPECT_THAT(resolve(4, "first"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(resolve(3, "loss"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(resolve(3, "second"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
