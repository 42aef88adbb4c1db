#include "footprint/trainer_manager/networks/random_network.h"

#include <set>
#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::UnorderedElementsAre;

TEST(RandomNetworkTest, EveryNetworkResolvesAndEveryLayerOccurs) {
  std::set<std::string> types;
  int shared = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    for (const Network& network :
         {RandomRowNetwork(seed), RandomImageNetwork(seed),
          RandomTokenNetwork(seed), RandomGatedNetwork(seed),
          RandomResidualNetwork(seed)}) {
      for (const NetworkMode mode :
           {NetworkMode::kTraining, NetworkMode::kInference}) {
        const auto resolved = ResolveNetwork(network, mode);
        EXPECT_THAT(resolved, IsOk()) << seed;
      }
      for (const Network::Node& node : network.nodes()) {
        types.insert(std::string(node.layer->type()));
        shared += !node.weights_of.empty();
      }
    }
  }
  EXPECT_THAT(types, UnorderedElementsAre(
                         "add", "attention", "average pool 2d",
                         "batch normalization", "convolution 2d", "dropout",
                         "embedding", "flatten", "fully connected", "GELU",
                         "layer normalization", "max pool 2d",
                         "mean squared error", "multiply", "position embedding",
                         "ReLU", "RMS normalization", "rotary positions",
                         "sigmoid", "SiLU", "softmax cross entropy", "tanh"));
  EXPECT_GT(shared, 10);
}

TEST(RandomNetworkTest, TheSameSeedGivesTheSameNetwork) {
  const Network a = RandomImageNetwork(5);
  const Network b = RandomImageNetwork(5);
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    EXPECT_EQ(a.nodes()[i].layer->type(), b.nodes()[i].layer->type());
    EXPECT_EQ(a.nodes()[i].inputs, b.nodes()[i].inputs);
  }
}

}  // namespace
}  // namespace footprint
