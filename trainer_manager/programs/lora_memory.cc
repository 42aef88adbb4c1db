// Prints how much memory LoRA saves in a training: the planned bytes without
// and with adapters, and with the base in its file.
//
//   lora_memory --words=119547 --layers=24 --width=1024 --positions=512
//
// The network is a transformer like BERT that classifies each position, trained
// with Adam. The adapters change queries and values. The program only plans,
// and does not allocate the memory of a training.

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"

ABSL_FLAG(int64_t, words, 119547, "number of words in the vocabulary");
ABSL_FLAG(int64_t, layers, 24, "number of transformer layers");
ABSL_FLAG(int64_t, width, 1024,
          "features of a position; a feed-forward block has four times as many "
          "between its two products");
ABSL_FLAG(int64_t, positions, 512, "number of positions in a sequence");
ABSL_FLAG(int64_t, batch, 1, "number of sequences in a batch");
ABSL_FLAG(int64_t, classes, 2, "number of classes for each position");
ABSL_FLAG(int64_t, rank, 8, "rank of the adapters");

namespace footprint {
namespace {

constexpr int kAdamStates = 2;

void AddBlock(const std::string& name, const std::string& input, int64_t width,
              Network* network) {
  AttentionOptions attention;
  attention.heads = width / 64;
  network->AddLayer(name + ".qkv", FullyConnected(3 * width), {input});
  network->AddLayer(name + ".attention", Attention(attention), {name + ".qkv"});
  network->AddLayer(name + ".projection", FullyConnected(width),
                    {name + ".attention"});
  network->AddLayer(name + ".add1", Add(), {input, name + ".projection"});
  network->AddLayer(name + ".norm1", LayerNormalization(), {name + ".add1"});
  network->AddLayer(name + ".fc1", FullyConnected(4 * width),
                    {name + ".norm1"});
  network->AddLayer(name + ".gelu", Gelu(), {name + ".fc1"});
  network->AddLayer(name + ".fc2", FullyConnected(width), {name + ".gelu"});
  network->AddLayer(name + ".add2", Add(), {name + ".norm1", name + ".fc2"});
  network->AddLayer(name, LayerNormalization(), {name + ".add2"});
}

Network MakeNetwork() {
  const int64_t width = absl::GetFlag(FLAGS_width);
  Network network;
  network.AddInput(
      "tokens", {{absl::GetFlag(FLAGS_batch), absl::GetFlag(FLAGS_positions)},
                 DType::kI32});
  network.AddLayer("words", Embedding(absl::GetFlag(FLAGS_words), width),
                   {"tokens"});
  network.AddLayer("positions", PositionEmbedding(), {"words"});
  std::string last = "positions";
  for (int64_t l = 0; l < absl::GetFlag(FLAGS_layers); ++l) {
    const std::string name = absl::StrCat("layer", l);
    AddBlock(name, last, width, &network);
    last = name;
  }
  network.AddLayer("head", FullyConnected(absl::GetFlag(FLAGS_classes)),
                   {last});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"head"});
  return network;
}

absl::Status PrintPlan(const std::string& name, const Network& network,
                       bool reads_frozen_weights) {
  MemoryOptions memory;
  memory.read_frozen_weights = reads_frozen_weights;
  const auto plan =
      PlanExecution(network, NetworkMode::kTraining, memory, kAdamStates);
  if (!plan.ok()) return plan.status();
  int64_t gradients = 0;
  int64_t states = 0;
  for (const PlannedTensor& tensor : plan->tensors) {
    if (tensor.kind == TensorKind::kGradient) gradients += tensor.size_bytes;
    if (tensor.kind == TensorKind::kOptimizerState) {
      states += tensor.size_bytes;
    }
  }
  std::cout << absl::StrFormat(
      "%s: %.1f MB planned, %.1f needed at least; weights %.1f, states "
      "%.1f, "
      "gradients %.1f, arena %.1f; %.1f read in a step\n",
      name, plan->planned_bytes() / 1e6, plan->bound_bytes() / 1e6,
      plan->model_bytes / 1e6, states / 1e6, gradients / 1e6,
      plan->arena.height_bytes / 1e6,
      plan->weight_bytes_read_per_iteration() / 1e6);
  return absl::OkStatus();
}

absl::Status Run() {
  const Network network = MakeNetwork();
  LoraOptions options;
  options.rank = absl::GetFlag(FLAGS_rank);
  options.targets = {{"*.qkv", 0, 3, "*.q_proj"}, {"*.qkv", 2, 3, "*.v_proj"}};
  options.trained = {"head.*"};
  const auto adapted = AddAdapters(network, options);
  if (!adapted.ok()) return adapted.status();
  absl::Status status = PrintPlan("whole", network, false);
  if (status.ok()) status = PrintPlan("adapters", adapted->network, false);
  return status.ok() ? PrintPlan("base in its file", adapted->network, true)
                     : status;
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = footprint::Run();
  if (status.ok()) return footprint::FinishStandardOutput("lora_memory");
  std::cerr << "lora_memory: " << status << "\n";
  return 1;
}
