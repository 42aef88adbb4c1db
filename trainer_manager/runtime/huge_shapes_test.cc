// Shapes of any size are described or refused. No arithmetic overflows, which
// `tools/dev ubsan` would report.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns an extent of any valid size, mostly a power of two or one less.
int64_t HugeExtent(std::mt19937_64* random) {
  const int64_t power = int64_t{1} << ((*random)() % 62);
  return power - static_cast<int64_t>((*random)() % 2) * (power > 1);
}

LayerPointer HugeLayer(unsigned kind, std::mt19937_64* random) {
  const int64_t extent = HugeExtent(random);
  Convolution2dOptions convolution;
  convolution.channels = extent;
  convolution.kernel = 1 + static_cast<int64_t>((*random)() % 4);
  AttentionOptions attention;
  switch (kind) {
    case 0:
      return FullyConnected(extent);
    case 1:
      return Convolution2d(convolution);
    case 2:
      convolution.channels = 1 << 20;
      convolution.kernel = HugeExtent(random);
      return Convolution2d(convolution);
    case 3:
      attention.heads = extent;
      return Attention(attention);
    case 4:
      return Attention(attention);
    case 5:
      return AveragePool2d(extent, 1);
    case 6:
      return MaxPool2d(1 + extent % 16, 1);
    case 7:
      return Embedding(extent, HugeExtent(random));
    case 8:
      return PositionEmbedding();
    case 9:
      return BatchNormalization();
    case 10:
      return LayerNormalization();
    case 11:
      return Flatten();
    default:
      return Gelu();
  }
}

// Returns a network with one layer that leads to a loss.
Network HugeNetwork(unsigned kind, std::mt19937_64* random) {
  TensorType input;
  switch ((*random)() % 3) {
    case 0:
      input.shape = {HugeExtent(random), HugeExtent(random)};
      break;
    case 1:
      input.shape = {1, HugeExtent(random), 3 * (HugeExtent(random) / 4)};
      break;
    default:
      input.shape = {1 + static_cast<int64_t>((*random)() % 3), 1,
                     HugeExtent(random), HugeExtent(random)};
      break;
  }
  if (kind == 7) input.type = DType::kI32;
  Network network;
  network.AddInput("x", input);
  network.AddLayer("layer", HugeLayer(kind, random), {"x"});
  network.AddLayer("again", FullyConnected(HugeExtent(random)), {"layer"});
  network.AddLayer("loss", MeanSquaredError(), {"again"});
  return network;
}

TEST(HugeShapesTest, AreDescribedOrRefused) {
  std::mt19937_64 random(1);
  int planned = 0;
  int refused = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Network network =
        HugeNetwork(static_cast<unsigned>(trial) % 13, &random);
    MemoryOptions options;
    options.micro_batches = trial % 5 == 0 ? HugeExtent(&random) : 1;
    const auto plan = PlanExecution(network, NetworkMode::kTraining, options,
                                    /*optimizer_states=*/trial % 3);
    if (plan.ok()) {
      EXPECT_GT(plan->planned_bytes(), 0);
      EXPECT_GE(plan->forward_products(), 0);
      ++planned;
    } else {
      EXPECT_FALSE(plan.status().message().empty());
      ++refused;
    }
  }
  EXPECT_GT(planned, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(HugeShapesTest, TheOutputOfALayerIsCheckedBeforeItsWork) {
  Network network;
  network.AddInput("x", {{int64_t{1} << 20, int64_t{1} << 20}});
  network.AddLayer("fc", FullyConnected(int64_t{1} << 45), {"x"});
  network.AddLayer("loss", MeanSquaredError(), {"fc"});
  const auto plan = PlanExecution(network, NetworkMode::kTraining, {});
  EXPECT_THAT(plan, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(std::string(plan.status().message()),
            "layer \"fc\": shape [1048576, 35184372088832] of F32 needs "
            "more than 2^63 - 1 bytes");
}

}  // namespace
}  // namespace footprint
