#include "footprint/trainer_manager/random_network.h"

#include <set>
#include <string>

#include "footprint/trainer_manager/network.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(RandomNetworkTest, EveryNetworkResolvesAndEveryLayerOccurs) {
  std::set<std::string> types;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    for (const Network& network :
         {RandomRowNetwork(seed), RandomImageNetwork(seed)}) {
      for (const NetworkMode mode :
           {NetworkMode::kTraining, NetworkMode::kInference}) {
        const auto resolved = ResolveNetwork(network, mode);
        EXPECT_TRUE(resolved.ok()) << seed << " " << resolved.status();
      }
      for (const Network::Node& node : network.nodes()) {
        types.insert(std::string(node.layer->type()));
      }
    }
  }
  EXPECT_GE(types.size(), 13u);
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
