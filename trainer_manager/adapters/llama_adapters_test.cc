// Trains LoRA on a small network of Llama's layout, and compares the losses
// with those of transformers' Llama; see testdata/make_golden_llama_lora.py,
// which draws the same numbers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/adapters/golden_draws.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/execution/weight_reads.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/rotary_positions.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kWidth = 64;
constexpr int64_t kInner = 96;
constexpr int64_t kHeads = 4;
constexpr int64_t kKeyHeads = 2;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr bool kNoBias = false;
constexpr int kSteps = 200;
constexpr const char* kLinear[] = {"self_attn.q_proj", "self_attn.k_proj",
                                   "self_attn.v_proj", "self_attn.o_proj",
                                   "mlp.gate_proj",    "mlp.up_proj",
                                   "mlp.down_proj"};

// Adds a block whose layers with weights have the names of transformers.
void AddBlock(const std::string& name, const std::string& input,
              Network* network) {
  AttentionOptions attention;
  attention.heads = kHeads;
  attention.key_heads = kKeyHeads;
  attention.causal = true;
  RotaryOptions rotary;
  rotary.heads = kHeads + kKeyHeads;
  rotary.head_width = kHeadWidth;
  const auto add = [&](const std::string& part, LayerPointer layer,
                       std::vector<std::string> inputs) {
    network->AddLayer(absl::StrCat(name, ".", part), std::move(layer),
                      std::move(inputs));
  };
  const auto part = [&](const std::string& each) {
    return absl::StrCat(name, ".", each);
  };
  const std::string norm1 = part("input_layernorm");
  const std::string norm2 = part("post_attention_layernorm");
  constexpr int64_t kKeyWidth = kKeyHeads * kHeadWidth;
  add("input_layernorm", RmsNormalization(), {input});
  add("self_attn.q_proj", FullyConnected(kWidth, kNoBias), {norm1});
  add("self_attn.k_proj", FullyConnected(kKeyWidth, kNoBias), {norm1});
  add("self_attn.v_proj", FullyConnected(kKeyWidth, kNoBias), {norm1});
  add("qk", Concatenate(2),
      {part("self_attn.q_proj"), part("self_attn.k_proj")});
  add("qkv", Concatenate(2), {part("qk"), part("self_attn.v_proj")});
  add("rotary", RotaryPositions(rotary), {part("qkv")});
  add("attention", Attention(attention), {part("rotary")});
  add("self_attn.o_proj", FullyConnected(kWidth, kNoBias), {part("attention")});
  add("sum1", Add(), {input, part("self_attn.o_proj")});
  add("post_attention_layernorm", RmsNormalization(), {part("sum1")});
  add("mlp.gate_proj", FullyConnected(kInner, kNoBias), {norm2});
  add("silu", Silu(), {part("mlp.gate_proj")});
  add("mlp.up_proj", FullyConnected(kInner, kNoBias), {norm2});
  add("product", Multiply(), {part("silu"), part("mlp.up_proj")});
  add("mlp.down_proj", FullyConnected(kWidth, kNoBias), {part("product")});
  network->AddLayer(name, Add(), {part("sum1"), part("mlp.down_proj")});
}

Network Llama() {
  Network network;
  network.AddInput("tokens", {{kGoldenBatch, kGoldenPositions}, DType::kI32});
  network.AddLayer("model.embed_tokens", Embedding(kGoldenWords, kWidth),
                   {"tokens"});
  AddBlock("model.layers.0", "model.embed_tokens", &network);
  AddBlock("model.layers.1", "model.layers.0", &network);
  network.AddLayer("model.norm", RmsNormalization(), {"model.layers.1"});
  network.AddLayer("lm_head", FullyConnected(kGoldenWords, kNoBias),
                   {"model.norm"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"lm_head"});
  return network;
}

void SetWeights(const AdaptedNetwork& adapted, const Parameters& parameters,
                GoldenDraws* draws) {
  const auto fill = [&](const std::string& name, float scale) {
    const auto values = parameters.Find(name);
    ASSERT_THAT(values, IsOk()) << name;
    draws->Fill(*values, scale);
  };
  fill("model.embed_tokens.weight", 0.5f);
  for (const std::string block : {"model.layers.0", "model.layers.1"}) {
    for (const char* layer : kLinear) {
      const bool reads_inner = std::string(layer) == "mlp.down_proj";
      fill(absl::StrCat(block, ".", layer, ".weight"),
           RootOfFan(reads_inner ? kInner : kWidth));
    }
  }
  fill("lm_head.weight", RootOfFan(kWidth));
  for (const Adapter& adapter : adapted.adapters) {
    fill(adapter.NameA(), RootOfFan(kWidth));
  }
}

// Writes all initial weights to a file.
std::string SaveBase(const AdaptedNetwork& adapted, GoldenDraws* draws) {
  const auto plan = PlanExecution(adapted.network, NetworkMode::kTraining, {});
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(*plan, 1);
  SetWeights(adapted, *parameters, draws);
  const std::string path = TestPath("base.safetensors");
  EXPECT_THAT(SaveParameters(*parameters, path), IsOk());
  return path;
}

std::vector<float> Train(const AdaptedNetwork& adapted,
                         const ExecutionPlan& plan,
                         const OptimizerPointer& optimizer) {
  GoldenDraws draws;
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(plan, 1);
  ManagerOptions options;
  if (plan.weight_bytes_read_per_iteration() == 0) {
    SetWeights(adapted, *parameters, &draws);
  } else {
    options.weights_file = SaveBase(adapted, &draws);
    ParameterMap map;
    map.only = "*";  // the rest of the file is read step by step
    EXPECT_THAT(LoadParameters(options.weights_file, map, parameters.get()),
                IsOk());
  }
  options.optimizer = optimizer;
  options.swap_folder = testing::TempDir();
  const auto manager = Manager::Create(plan, parameters, options);
  EXPECT_THAT(manager, IsOk());
  std::vector<float> losses;
  std::vector<int32_t> tokens;
  std::vector<int32_t> labels;
  for (int step = 0; step < kSteps; ++step) {
    draws.DrawTokens(&tokens, &labels);
    EXPECT_THAT((*manager)->SetInput(0, tokens), IsOk());
    EXPECT_THAT((*manager)->SetLabel(labels), IsOk());
    const auto loss = (*manager)->TrainStep();
    EXPECT_THAT(loss, IsOk());
    losses.push_back(loss.ok() ? *loss : -1);
  }
  return losses;
}

std::vector<double> ReadGoldens() {
  std::ifstream file("trainer_manager/adapters/testdata/golden_llama_lora.txt");
  std::string line;
  while (file.peek() == '#') std::getline(file, line);
  std::vector<double> losses;
  double loss = 0;
  while (file >> loss) losses.push_back(loss);
  return losses;
}

TEST(LlamaAdaptersTest, LossesAreThoseOfTransformersWithEveryBudget) {
  LoraOptions lora;
  lora.rank = 8;
  lora.alpha = 16;
  lora.targets = {{"*.q_proj"}, {"*.v_proj"}};
  const auto adapted = AddAdapters(Llama(), lora);
  ASSERT_THAT(adapted, IsOk());
  ASSERT_EQ(adapted->adapters.size(), 4u);
  const OptimizerPointer optimizer = AdamW(0.004f, 0.1f);
  MemoryOptions memory;
  const auto plan = [&] {
    return PlanExecution(adapted->network, NetworkMode::kTraining, memory,
                         optimizer->states_per_weight());
  };
  const auto ample = plan();
  ASSERT_THAT(ample, IsOk());
  const std::vector<float> losses = Train(*adapted, *ample, optimizer);
  const std::vector<double> expected = ReadGoldens();
  ASSERT_EQ(expected.size(), losses.size());
  double worst = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    worst = std::max(worst, std::abs(losses[i] - expected[i]) / expected[i]);
  }
  EXPECT_LT(worst, 5e-6);
  EXPECT_LT(losses.back(), losses.front() * 0.8f);
  // The least budget with a swap file, with the base in memory and in its file,
  // and a budget that keeps some of the weights.
  memory.swap_to_file = true;
  for (const bool reads : {false, true}) {
    memory.read_frozen_weights = reads;
    memory.budget_bytes = 0;
    memory.budget_bytes = LeastBudgetNamed(plan().status());
    const auto least = plan();
    ASSERT_THAT(least, IsOk());
    EXPECT_LT(least->planned_bytes(), ample->planned_bytes());
    EXPECT_EQ(Train(*adapted, *least, optimizer), losses);
    memory.budget_bytes += memory.budget_bytes / 4;
    const auto more = plan();
    ASSERT_THAT(more, IsOk());
    EXPECT_EQ(Train(*adapted, *more, optimizer), losses);
    if (!reads) continue;
    EXPECT_LT(more->model_bytes, ample->model_bytes);
    EXPECT_GE(more->weight_bytes_read_per_iteration(),
              LeastWeightBytesRead(*more));
  }
}

}  // namespace
}  // namespace footprint
