#include "footprint/trainer_manager/execution/recomputation.h"

#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;

ResolvedNetwork Resolve(const Network& network) {
  const auto resolved =
      ResolveNetwork(network, NetworkMode::kTraining, ReferenceMath(), true);
  EXPECT_THAT(resolved, IsOk());
  return *resolved;
}

// Layers: 0 fc1, 1 norm, 2 relu, 3 fc2, 4 tanh, 5 fc3, 6 loss.
ResolvedNetwork Rows() {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc1", FullyConnected(3), {"x"});
  network.AddLayer("norm", BatchNormalization(), {"fc1"});
  network.AddLayer("relu", Relu(), {"norm"});
  network.AddLayer("fc2", FullyConnected(3), {"relu"});
  network.AddLayer("tanh", Tanh(), {"fc2"});
  network.AddLayer("fc3", FullyConnected(2), {"tanh"});
  network.AddLayer("loss", MeanSquaredError(), {"fc3"});
  return Resolve(network);
}

TEST(RecomputationTest, OutputsComeAgainFromWhatIsKeptAnyway) {
  // The normalization's input is kept for its own derivative. Tanh's output is
  // also kept, but not its input.
  EXPECT_THAT(FindRecomputed(Rows(), true, {}, {}),
              ElementsAre(false, true, true, false, false, false, false));
  EXPECT_THAT(FindRecomputed(Rows(), false, {}, {}),
              ElementsAre(false, false, false, false, false, false, false));
}

TEST(RecomputationTest, WhatIsDroppedIsCalculatedAgainAndWhatIsSwappedIsNot) {
  EXPECT_THAT(FindRecomputed(Rows(), true, {3}, {}),
              ElementsAre(false, true, true, true, true, false, false));
  EXPECT_THAT(FindRecomputed(Rows(), true, {}, {2, 3}),
              ElementsAre(false, true, false, false, true, false, false));
}

TEST(RecomputationTest, DroppingReachesBackToWhatIsKept) {
  // Only tanh reads fc2's output, and its derivative reads tanh's own output.
  EXPECT_THAT(LayersToDrop(Rows(), {}, 4), ElementsAre(4, 3));
  EXPECT_THAT(LayersToDrop(Rows(), {3}, 4), ElementsAre(4));
  EXPECT_THAT(LayersToDrop(Rows(), {}, 0), ElementsAre(0));
}

TEST(RecomputationTest, ALossIsNotCalculatedAgain) {
  EXPECT_FALSE(CanRecompute(Rows(), 6));
  EXPECT_TRUE(CanRecompute(Rows(), 0));
}

TEST(RecomputationTest, OnlyTheOneReaderOfAnActivationMaySlice) {
  const ResolvedNetwork rows = Rows();
  EXPECT_TRUE(CanSlice(rows, 5));   // through tanh
  EXPECT_TRUE(CanSlice(rows, 3));   // through relu
  EXPECT_FALSE(CanSlice(rows, 0));  // through the network's input
  EXPECT_FALSE(CanSlice(rows, 2));  // through a normalization
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc1", FullyConnected(3), {"x"});
  network.AddLayer("relu", Relu(), {"fc1"});
  network.AddLayer("fc2", FullyConnected(3), {"relu"});
  network.AddLayer("sum", Add(), {"fc2", "relu"});
  network.AddLayer("loss", MeanSquaredError(), {"sum"});
  EXPECT_FALSE(CanSlice(Resolve(network), 2));
}

TEST(RecomputationTest, AMaxPoolingRestoresItsActivation) {
  for (const bool largest : {false, true}) {
    Network network;
    network.AddInput("x", {{2, 1, 4, 4}});
    network.AddLayer("conv", Convolution2d({}), {"x"});
    network.AddLayer("relu", Relu(), {"conv"});
    network.AddLayer("pool", largest ? MaxPool2d(2) : AveragePool2d(2),
                     {"relu"});
    network.AddLayer("loss", MeanSquaredError(), {"pool"});
    EXPECT_EQ(CanRestore(Resolve(network), 2), largest);
    EXPECT_FALSE(CanRestore(Resolve(network), 1));
  }
}

}  // namespace
}  // namespace footprint
