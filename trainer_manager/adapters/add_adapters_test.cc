#include "footprint/trainer_manager/adapters/add_adapters.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Network Rows() {
  Network network;
  network.AddInput("rows", {{4, 6}});
  network.AddLayer("front.fc", FullyConnected(12), {"rows"});
  network.AddLayer("front.norm", LayerNormalization(), {"front.fc"});
  network.AddLayer("front.relu", Relu(), {"front.norm"});
  network.AddLayer("back.fc", FullyConnected(8), {"front.relu"});
  network.AddLayer("head", FullyConnected(3), {"back.fc"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  return network;
}

LoraOptions Options(std::vector<LoraTarget> targets) {
  LoraOptions options;
  options.rank = 2;
  options.targets = std::move(targets);
  return options;
}

std::vector<std::string> NamesOf(const ExecutionPlan& plan, TensorKind kind) {
  std::vector<std::string> names;
  for (const PlannedTensor& tensor : plan.tensors) {
    if (tensor.kind == kind) names.push_back(tensor.name);
  }
  return names;
}

TEST(AddAdaptersTest, OnlyAdaptersHaveGradientsAndStates) {
  const auto adapted = AddAdapters(Rows(), Options({{"*.fc"}}));
  ASSERT_THAT(adapted, IsOk());
  const auto plan = PlanExecution(adapted->network, NetworkMode::kTraining, {},
                                  /*optimizer_states=*/1);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(NamesOf(*plan, TensorKind::kGradient),
              testing::UnorderedElementsAre(
                  "front.fc.lora_A gradient", "front.fc.lora_B gradient",
                  "back.fc.lora_A gradient", "back.fc.lora_B gradient"));
  EXPECT_EQ(NamesOf(*plan, TensorKind::kOptimizerState).size(), 4u);
  EXPECT_THAT(NamesOf(*plan, TensorKind::kStatisticCopy), testing::IsEmpty());
  EXPECT_THAT(NamesOf(*plan, TensorKind::kRunningStatistic),
              testing::UnorderedElementsAre("front.fc.weight", "front.fc.bias",
                                            "back.fc.weight", "back.fc.bias"));
}

TEST(AddAdaptersTest, TrainedLayersAreTrainedBesides) {
  LoraOptions options = Options({{"back.fc"}});
  options.trained = {"head.*", "front.norm.*"};
  const auto adapted = AddAdapters(Rows(), options);
  ASSERT_THAT(adapted, IsOk());
  const auto plan =
      PlanExecution(adapted->network, NetworkMode::kTraining, {}, 0);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(NamesOf(*plan, TensorKind::kGradient),
              testing::UnorderedElementsAre(
                  "back.fc.lora_A gradient", "back.fc.lora_B gradient",
                  "head.weight gradient", "head.bias gradient",
                  "front.norm.scale gradient", "front.norm.shift gradient"));
  const auto& tensors = adapted->file_tensors.tensors;
  EXPECT_EQ(tensors.size(), 6u);
  EXPECT_EQ(tensors.at("back.fc.lora_A").name,
            "base_model.model.back.fc.lora_A.weight");
  EXPECT_FALSE(tensors.at("back.fc.lora_A").transposed);
  EXPECT_EQ(tensors.at("head.weight").name, "base_model.model.head.weight");
  EXPECT_TRUE(tensors.at("head.weight").transposed);
  EXPECT_EQ(tensors.at("front.norm.scale").name,
            "base_model.model.front.norm.weight");
}

TEST(AddAdaptersTest, NamesPartsAndModules) {
  const auto adapted = AddAdapters(
      Rows(), Options({{"*.fc", 0, 2, "*.q"}, {"*.fc", 1, 2, "*.v"}}));
  ASSERT_THAT(adapted, IsOk());
  std::vector<std::string> modules;
  std::vector<std::string> names;
  for (const Adapter& adapter : adapted->adapters) {
    modules.push_back(adapter.module);
    names.push_back(adapter.NameB());
  }
  EXPECT_THAT(modules, ElementsAre("front.q", "front.v", "back.q", "back.v"));
  EXPECT_THAT(names, ElementsAre("front.fc.0of2.lora_B", "front.fc.1of2.lora_B",
                                 "back.fc.0of2.lora_B", "back.fc.1of2.lora_B"));
}

TEST(AddAdaptersTest, ScalesByAlphaOverRankOrItsRoot) {
  LoraOptions options = Options({{"back.fc"}});
  options.rank = 4;
  options.alpha = 6;
  EXPECT_EQ(AddAdapters(Rows(), options)->adapters[0].matrices.scale, 1.5f);
  options.rank_stabilized = true;
  EXPECT_EQ(AddAdapters(Rows(), options)->adapters[0].matrices.scale, 3.0f);
}

TEST(AddAdaptersTest, ANetworkWithoutALossCanInfer) {
  Network network;
  network.AddInput("rows", {{4, 6}});
  network.AddLayer("fc", FullyConnected(12), {"rows"});
  const auto adapted = AddAdapters(network, Options({{"fc"}}));
  ASSERT_THAT(adapted, IsOk());
  EXPECT_THAT(PlanExecution(adapted->network, NetworkMode::kInference, {}),
              IsOk());
}

TEST(AddAdaptersTest, ALayerWithoutABiasStaysWithout) {
  for (const bool bias : {true, false}) {
    Network network;
    network.AddInput("rows", {{4, 6}});
    network.AddLayer("fc", FullyConnected(12, bias), {"rows"});
    const auto adapted = AddAdapters(network, Options({{"fc"}}));
    ASSERT_THAT(adapted, IsOk());
    const auto plan =
        PlanExecution(adapted->network, NetworkMode::kInference, {});
    ASSERT_THAT(plan, IsOk());
    const auto parameters = *Parameters::Create(*plan, 1);
    EXPECT_THAT(parameters->Find("fc.weight"), IsOk());
    EXPECT_EQ(parameters->Find("fc.bias").ok(), bias);
  }
}

// A training with Adam needs states and gradients of the adapters alone.
TEST(AddAdaptersTest, TakesLessMemoryThanTrainingAll) {
  const Network whole = SmallTransformer(8);
  const auto adapted = AddAdapters(
      whole, Options({{"*_qkv", 0, 3, "*.q"}, {"*_qkv", 2, 3, "*.v"}}));
  ASSERT_THAT(adapted, IsOk());
  const auto all = PlanExecution(whole, NetworkMode::kTraining, {}, 2);
  const auto few =
      PlanExecution(adapted->network, NetworkMode::kTraining, {}, 2);
  ASSERT_THAT(all, IsOk());
  ASSERT_THAT(few, IsOk());
  // Two layers of two adapters of 2 x 128 and 128 x 2.
  const int64_t adapters = 4 * (2 * 128 + 128 * 2) * 4;
  EXPECT_EQ(few->model_bytes, all->model_bytes + adapters);
  EXPECT_LT(few->fixed_bytes, 2 * adapters + 64 * 1024);
  EXPECT_LT(few->planned_bytes(), all->planned_bytes() - 2 * all->model_bytes);
}

TEST(AddAdaptersTest, RefusesTargetsThatDoNotFit) {
  const struct {
    std::vector<LoraTarget> targets;
    const char* text;
  } kCases[] = {
      {{}, "targets is empty"},
      {{{"back.fcc"}}, "matches no layer; the closest: \"back.fc\""},
      {{{"*.relu"}}, "no fully connected layer; \"front.relu\" is of type"},
      {{{"loss"}}, "matches no layer"},
      {{{"*.fc"}, {"back.*"}}, "same units of layer \"back.fc\""},
      {{{"back.fc", 0, 1, "a"}, {"back.fc", 1, 2, "b"}},
       "same units of layer \"back.fc\""},
      {{{"*.fc", 0, 1, "fc"}}, "two adapters have the module \"fc\""},
      {{{"*.*", 0, 1, "*.q"}}, "exactly one"},
      {{{"back.fc", 0, 1, "*.q"}}, "exactly one"},
      {{{"back.fc", 0, 3}}, "layer \"back.fc\": LoRA on part 0 of 3 of 8"},
      {{{"back.fc", 2, 2}}, "layer \"back.fc\": part 2 of 2 of 8 units"},
      {{{"back.fc", 0, 1},
        {"back.fc", std::numeric_limits<int64_t>::max(),
         std::numeric_limits<int64_t>::max()}},
       "layer \"back.fc\": part 9223372036854775807 of 9223372036854775807"},
      {{{"back.fc", 0, 1}, {"back.fc", 0, -1}},
       "layer \"back.fc\": part 0 of -1"},
      {{{"back.fc", 0, 8}}, "layer \"back.fc\": LoRA of rank 2 on a matrix"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(AddAdapters(Rows(), Options(c.targets)).status(),
                StatusIs(kInvalid, HasSubstr(c.text)));
  }
}

// A name with a star would be a pattern of other layers, too.
TEST(AddAdaptersTest, RefusesNamesThatArePatterns) {
  Network network;
  network.AddInput("rows", {{4, 6}});
  network.AddLayer("b*", FullyConnected(6), {"rows"});
  network.AddLayer("big", FullyConnected(6), {"b*"});
  network.AddLayer("target", FullyConnected(6), {"big"});
  network.AddLayer("loss", MeanSquaredError(), {"target"});
  LoraOptions options = Options({{"target"}});
  options.trained = {"big.*"};
  EXPECT_THAT(AddAdapters(network, options).status(),
              StatusIs(kInvalid, HasSubstr("\"b*\"")));
}

TEST(AddAdaptersTest, RefusesNumbersThatTrainNothing) {
  LoraOptions options = Options({{"back.fc"}});
  for (const float alpha :
       {0.0f, -1.0f, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    options.alpha = alpha;
    EXPECT_THAT(AddAdapters(Rows(), options).status(),
                StatusIs(kInvalid, HasSubstr("alpha")));
  }
  options.alpha = 1;
  for (const int64_t rank : {int64_t{0}, int64_t{-3}}) {
    options.rank = rank;
    EXPECT_THAT(AddAdapters(Rows(), options).status(),
                StatusIs(kInvalid, HasSubstr("LoraOptions::rank is")));
  }
  options.rank = 9;  // of a matrix of 12 x 8
  EXPECT_THAT(AddAdapters(Rows(), options).status(),
              StatusIs(kInvalid, HasSubstr("a rank from 1 to 8")));
}

TEST(AddAdaptersTest, RefusesTrainedPatternsThatDoNotFit) {
  const struct {
    const char* pattern;
    const char* text;
  } kCases[] = {
      {"tail.*", "matches none of the network"},
      {"head.weight", "use \"head.*\""},
      {"back.*", "which has adapters"},
  };
  for (const auto& c : kCases) {
    LoraOptions options = Options({{"back.fc"}});
    options.trained = {c.pattern};
    EXPECT_THAT(AddAdapters(Rows(), options).status(),
                StatusIs(kInvalid, HasSubstr(c.text)));
  }
}

TEST(AddAdaptersTest, RefusesGroupsAndSharedWeights) {
  Network grouped = Rows();
  grouped.Freeze("front.*");
  EXPECT_THAT(AddAdapters(grouped, Options({{"back.fc"}})).status(),
              StatusIs(kInvalid, HasSubstr("has groups")));
  Network shared;
  shared.AddInput("rows", {{4, 6}});
  shared.AddLayer("first", FullyConnected(6), {"rows"});
  shared.AddLayer("second", FullyConnected(6), {"first"}, "first");
  for (const char* name : {"first", "second"}) {
    EXPECT_THAT(AddAdapters(shared, Options({{name}})).status(),
                StatusIs(kInvalid, HasSubstr("shares its weights")));
  }
  EXPECT_THAT(AddAdapters(Network(), Options({{"x"}})).status(),
              StatusIs(kInvalid));
}

// Groups of the result may train adapters differently.
TEST(AddAdaptersTest, TheResultTakesGroups) {
  auto adapted = AddAdapters(Rows(), Options({{"back.fc"}}));
  ASSERT_THAT(adapted, IsOk());
  ParameterGroup group;
  group.pattern = "*.lora_B";
  group.rate_factor = 16;
  adapted->network.AddGroup(group);
  EXPECT_THAT(PlanExecution(adapted->network, NetworkMode::kTraining, {}, 0),
              IsOk());
}

}  // namespace
}  // namespace footprint
