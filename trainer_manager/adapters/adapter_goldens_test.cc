// Adapters train as PyTorch's do, and PEFT's files give PyTorch's outputs; see
// testdata/make_golden_lora.py, which draws the same numbers. The bits do not
// depend on memory options, budgets and stops.

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/adapters/adapter_file.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/adapters/golden_draws.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/option_subset.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_state.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Values = std::vector<float>;

constexpr char kFolder[] = "trainer_manager/adapters/testdata";
constexpr int64_t kWidth = 64;

std::map<std::string, std::vector<double>> ReadGoldens() {
  std::map<std::string, std::vector<double>> goldens;
  std::ifstream file(absl::StrCat(kFolder, "/golden_lora.txt"));
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    double value = 0;
    while (words >> value) goldens[name].push_back(value);
  }
  return goldens;
}

void AddBlock(const std::string& name, const std::string& input,
              Network* network) {
  AttentionOptions attention;
  attention.heads = 4;
  attention.causal = true;
  const auto add = [&](const std::string& part, LayerPointer layer,
                       const std::vector<std::string>& inputs) {
    network->AddLayer(name + part, std::move(layer), inputs);
  };
  add(".norm1", LayerNormalization(), {input});
  add(".qkv", FullyConnected(3 * kWidth), {name + ".norm1"});
  add(".attention", Attention(attention), {name + ".qkv"});
  add(".projection", FullyConnected(kWidth), {name + ".attention"});
  add(".add1", Add(), {input, name + ".projection"});
  add(".norm2", LayerNormalization(), {name + ".add1"});
  add(".fc1", FullyConnected(2 * kWidth), {name + ".norm2"});
  add(".gelu", Gelu(), {name + ".fc1"});
  add(".fc2", FullyConnected(kWidth), {name + ".gelu"});
  add("", Add(), {name + ".add1", name + ".fc2"});
}

Network Transformer() {
  Network network;
  network.AddInput("tokens", {{kGoldenBatch, kGoldenPositions}, DType::kI32});
  network.AddLayer("embedding", Embedding(kGoldenWords, kWidth), {"tokens"});
  network.AddLayer("position", PositionEmbedding(), {"embedding"});
  AddBlock("layer1", "position", &network);
  AddBlock("layer2", "layer1", &network);
  network.AddLayer("norm", LayerNormalization(), {"layer2"});
  network.AddLayer("head", FullyConnected(kGoldenWords), {"norm"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  return network;
}

// The base in the order of the layers, then the adapters' first matrices.
void SetWeights(const AdaptedNetwork& adapted, const Parameters& parameters,
                GoldenDraws* draws) {
  const auto fill = [&](const std::string& name, float scale) {
    const auto values = parameters.Find(name);
    ASSERT_THAT(values, IsOk()) << name;
    draws->Fill(*values, scale);
  };
  fill("embedding.weight", 0.5f);
  fill("position.weight", 0.1f);
  const auto fill_linear = [&](const std::string& layer, int64_t inputs) {
    fill(layer + ".weight", RootOfFan(inputs));
    fill(layer + ".bias", 0.1f);
  };
  for (const std::string block : {"layer1", "layer2"}) {
    fill_linear(block + ".qkv", kWidth);
    fill_linear(block + ".projection", kWidth);
    fill_linear(block + ".fc1", kWidth);
    fill_linear(block + ".fc2", 2 * kWidth);
  }
  fill_linear("head", kWidth);
  for (const Adapter& adapter : adapted.adapters) {
    const size_t size = parameters.Find(adapter.NameA())->size();
    fill(adapter.NameA(),
         RootOfFan(static_cast<int64_t>(size) / adapter.matrices.rank));
  }
}

LoraOptions QueryAndValue(int64_t rank, float alpha) {
  LoraOptions options;
  options.rank = rank;
  options.alpha = alpha;
  options.targets = {{"*.qkv", 0, 3, "*.q_proj"}, {"*.qkv", 2, 3, "*.v_proj"}};
  return options;
}

LoraOptions AllStabilized() {
  LoraOptions options;
  options.rank = 4;
  options.alpha = 8;
  options.rank_stabilized = true;
  options.targets = {{"layer*.qkv"}, {"*.projection"}, {"*.fc1"}, {"*.fc2"}};
  options.trained = {"head.*"};
  return options;
}

// A training with its data.
class Training {
 public:
  Training(const LoraOptions& lora, const MemoryOptions& memory,
           const OptimizerPointer& optimizer, uint64_t budget_share = 0)
      : adapted_(*AddAdapters(Transformer(), lora)) {
    MemoryOptions options = memory;
    auto plan = PlanExecution(adapted_.network, NetworkMode::kTraining, options,
                              optimizer->states_per_weight());
    EXPECT_THAT(plan, IsOk());
    if (budget_share > 0) {
      options.budget_bytes =
          plan->model_bytes + plan->fixed_bytes +
          plan->arena_bytes * static_cast<int64_t>(budget_share) / 100;
      plan = PlanExecution(adapted_.network, NetworkMode::kTraining, options,
                           optimizer->states_per_weight());
      EXPECT_THAT(plan, IsOk());
      EXPECT_LE(plan->planned_bytes(), options.budget_bytes);
    }
    plan_ = *std::move(plan);
    parameters_ = *Parameters::Create(plan_, 1);
    SetWeights(adapted_, *parameters_, &draws_);
    ManagerOptions manager;
    manager.optimizer = optimizer;
    auto made = Manager::Create(plan_, parameters_, manager);
    EXPECT_THAT(made, IsOk());
    manager_ = *std::move(made);
  }

  std::vector<float> Run(int steps) {
    std::vector<float> losses;
    std::vector<int32_t> tokens;
    std::vector<int32_t> labels;
    for (int step = 0; step < steps; ++step) {
      draws_.DrawTokens(&tokens, &labels);
      EXPECT_THAT(manager_->SetInput(0, tokens), IsOk());
      EXPECT_THAT(manager_->SetLabel(labels), IsOk());
      const auto loss = manager_->TrainStep();
      EXPECT_THAT(loss, IsOk());
      losses.push_back(loss.ok() ? *loss : -1);
    }
    return losses;
  }
  // All of the model's values, one after the other.
  Values AllValues() const {
    Values all;
    for (const Parameters::Parameter& parameter : parameters_->all()) {
      all.insert(all.end(), parameter.values.begin(), parameter.values.end());
    }
    return all;
  }
  void PassOverSteps(int steps) {
    std::vector<int32_t> tokens;
    std::vector<int32_t> labels;
    for (int i = 0; i < steps; ++i) draws_.DrawTokens(&tokens, &labels);
  }

  const AdaptedNetwork& adapted() const { return adapted_; }
  const ExecutionPlan& plan() const { return plan_; }
  const Parameters& parameters() const { return *parameters_; }
  Manager* manager() const { return manager_.get(); }

 private:
  AdaptedNetwork adapted_;
  ExecutionPlan plan_;
  std::shared_ptr<Parameters> parameters_;
  std::unique_ptr<Manager> manager_;
  GoldenDraws draws_;
};

void ExpectGolden(const std::string& name, Training* training) {
  const auto goldens = ReadGoldens();
  ASSERT_EQ(goldens.count(name), 1u);
  const std::vector<double>& expected = goldens.at(name);
  ASSERT_EQ(expected.size(), 200u);
  const std::vector<float> losses = training->Run(200);
  double worst = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    worst = std::max(worst, std::abs(losses[i] - expected[i]) / expected[i]);
  }
  EXPECT_LT(worst, 5e-6);
  EXPECT_LT(losses.back(), losses.front() * 0.8f);
}

TEST(AdapterGoldensTest, LossesOfQueryAndValueArePyTorchs) {
  Training training(QueryAndValue(8, 16), {}, AdamW(0.004f, 0.1f));
  const Values base = training.AllValues();
  const auto weight = training.parameters().Find("layer1.qkv.weight");
  const Values before(weight->begin(), weight->end());
  ExpectGolden("query_and_value_adamw", &training);
  EXPECT_EQ(Values(weight->begin(), weight->end()), before);
}

TEST(AdapterGoldensTest, LossesOfAllLayersAndAHeadArePyTorchs) {
  Training training(AllStabilized(), {}, StochasticGradientDescent(0.1f));
  ExpectGolden("all_stabilized_sgd", &training);
}

TEST(AdapterGoldensTest, AFolderOfPeftGivesPyTorchsOutputs) {
  const auto adapted = AddAdapters(Transformer(), [] {
    LoraOptions options = QueryAndValue(4, 8);
    options.trained = {"head.*"};
    return options;
  }());
  ASSERT_THAT(adapted, IsOk());
  const auto plan =
      PlanExecution(adapted->network, NetworkMode::kInference, {});
  const auto parameters = *Parameters::Create(*plan, 1);
  GoldenDraws draws;
  SetWeights(*adapted, *parameters, &draws);
  for (const Adapter& adapter : adapted->adapters) {
    draws.Skip(parameters->Find(adapter.NameB())->size());
  }
  draws.Skip(kWidth * kGoldenWords + kGoldenWords);
  ASSERT_THAT(LoadAdapters(absl::StrCat(kFolder, "/adapter"), *adapted,
                           parameters.get()),
              IsOk());
  std::vector<int32_t> tokens;
  std::vector<int32_t> labels;
  draws.DrawTokens(&tokens, &labels);
  const auto manager = *Manager::Create(*plan, parameters, {});
  ASSERT_THAT(manager->Infer({InputView(tokens)}), IsOk());
  const auto output = *manager->Output();
  const auto goldens = ReadGoldens();
  const std::vector<double>& expected = goldens.at("outputs");
  ASSERT_EQ(expected.size(),
            static_cast<size_t>(kGoldenBatch * kGoldenPositions));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(output[i * kGoldenWords], expected[i], 5e-6) << i;
  }
}

TEST(AdapterGoldensTest, BitsAreTheSameWithEveryOptionAndBudget) {
  constexpr int kSteps = 8;
  const OptimizerPointer optimizer = AdamW(0.004f, 0.1f);
  const LoraOptions lora = AllStabilized();
  Training whole(lora, {}, optimizer);
  const std::vector<float> losses = whole.Run(kSteps);
  const Values values = whole.AllValues();
  const auto expect_same = [&](Training* training) {
    EXPECT_EQ(training->Run(kSteps), losses);
    EXPECT_EQ(training->AllValues(), values);
  };
  // Each option alone, each left out, none and all.
  std::vector<unsigned> subsets = {0, kOptionSubsets - 1};
  for (unsigned bit = 1; bit < kOptionSubsets; bit *= 2) {
    subsets.push_back(bit);
    subsets.push_back((kOptionSubsets - 1) ^ bit);
  }
  for (const unsigned subset : subsets) {
    SCOPED_TRACE(subset);
    Training training(lora, OptionSubset(subset), optimizer);
    expect_same(&training);
  }
  for (const uint64_t share : {90, 75, 60}) {
    SCOPED_TRACE(share);
    Training training(lora, {}, optimizer, share);
    EXPECT_LT(training.plan().planned_bytes(), whole.plan().planned_bytes());
    expect_same(&training);
  }
}

TEST(AdapterGoldensTest, GoesOnAfterEachStopWithTheSameBits) {
  constexpr int kSteps = 6;
  const OptimizerPointer optimizer = Adam(0.004f);
  const LoraOptions lora = QueryAndValue(8, 16);
  const std::string path = TestPath("stopped.safetensors");
  Training whole(lora, {}, optimizer);
  const std::vector<float> losses = whole.Run(kSteps);
  for (int stop = 0; stop < kSteps; ++stop) {
    Training begun(lora, {}, optimizer);
    begun.Run(stop);
    ASSERT_THAT(SaveTraining(begun.plan(), *begun.manager(), path), IsOk());
    Training resumed(lora, {}, optimizer, /*budget_share=*/80);
    ASSERT_THAT(
        ResumeTraining(path, resumed.plan(), resumed.manager()).status(),
        IsOk());
    resumed.PassOverSteps(stop);
    EXPECT_EQ(resumed.Run(kSteps - stop),
              std::vector<float>(losses.begin() + stop, losses.end()));
    EXPECT_EQ(resumed.AllValues(), whole.AllValues());
  }
}

// Of rank 8 on two thirds of two matrices of 64 x 192.
TEST(AdapterGoldensTest, GradientsAndStatesAreOfAdaptersAlone) {
  Training training(QueryAndValue(8, 16), {}, Adam(0.004f));
  const int64_t adapters = 4 * (8 * kWidth + kWidth * 8) * 4;
  int64_t states = 0;
  int64_t gradients = 0;
  for (const PlannedTensor& tensor : training.plan().tensors) {
    if (tensor.kind == TensorKind::kOptimizerState) states += tensor.size_bytes;
    if (tensor.kind == TensorKind::kGradient) gradients += tensor.size_bytes;
  }
  EXPECT_EQ(states, 2 * adapters);
  EXPECT_EQ(gradients, adapters);
}

}  // namespace
}  // namespace footprint
