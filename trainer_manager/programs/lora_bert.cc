// Trains adapters (LoRA) on a BERT whose weights stay in their file, or says
// how much memory that takes.
//
//   lora_bert                        # only plans, with and without adapters
//   lora_bert --base=model.safetensors --budget_bytes=58000000 --steps=3
//
// The network is BERT with a class for each position, trained with Adam. The
// adapters change queries and values. The checkpoint is one of a BertModel of
// this shape, such as `lowmem_generate --shape=bert-large-multilingual` writes.
// Words and labels are drawn. For each step the program prints the loss and the
// time, and at the end how much the process grew.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/files/program_flags.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/adapters/adapter_file.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/weight_reads.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/programs/bert_network.h"
#include "footprint/trainer_manager/runtime/manager.h"
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
ABSL_FLAG(int64_t, budget_bytes, 0,
          "maximum of the planned bytes of adapters with the base in its file; "
          "0 means no limit");
ABSL_FLAG(std::string, swap_folder, "/tmp",
          "folder of the file to which outputs are swapped to meet the budget");
ABSL_FLAG(std::string, base, "",
          "checkpoint to train on; if it is empty, nothing is trained");
ABSL_FLAG(bool, in_memory, false, "load the checkpoint instead of reading it");
ABSL_FLAG(int, steps, 1, "number of steps to train");
ABSL_FLAG(int, threads, 1, "number of threads that share each step");
ABSL_FLAG(std::string, adapters, "",
          "folder to save the trained adapters to, which must exist");

namespace footprint {
namespace {

constexpr int kAdamStates = 2;
constexpr uint64_t kSeed = 1;

BertShape ShapeOfFlags() {
  BertShape shape;
  shape.words = absl::GetFlag(FLAGS_words);
  shape.layers = absl::GetFlag(FLAGS_layers);
  shape.width = absl::GetFlag(FLAGS_width);
  shape.positions = absl::GetFlag(FLAGS_positions);
  shape.batch = absl::GetFlag(FLAGS_batch);
  shape.classes = absl::GetFlag(FLAGS_classes);
  return shape;
}

absl::StatusOr<AdaptedNetwork> AddAdaptersOfFlags(const Network& network) {
  LoraOptions options;
  options.rank = absl::GetFlag(FLAGS_rank);
  options.targets = {{"*.attention.self.query"}, {"*.attention.self.value"}};
  options.trained = {"head.*"};
  return AddAdapters(network, options);
}

MemoryOptions ReadingOptions() {
  MemoryOptions memory;
  memory.read_frozen_weights = !absl::GetFlag(FLAGS_in_memory);
  if (absl::GetFlag(FLAGS_budget_bytes) > 0) {
    memory.budget_bytes = absl::GetFlag(FLAGS_budget_bytes);
    memory.swap_to_file = true;
  }
  return memory;
}

void PrintPlan(const std::string& name, const ExecutionPlan& plan) {
  int64_t gradients = 0;
  int64_t states = 0;
  for (const PlannedTensor& tensor : plan.tensors) {
    if (tensor.kind == TensorKind::kGradient) gradients += tensor.size_bytes;
    if (tensor.kind == TensorKind::kOptimizerState) {
      states += tensor.size_bytes;
    }
  }
  std::cout << absl::StrFormat(
      "%s: %.1f MB planned, %.1f needed at least; weights %.1f, states "
      "%.1f, "
      "gradients %.1f, arena %.1f; a step reads %.1f of weights (%.1f at "
      "least), swaps %.1f\n",
      name, plan.planned_bytes() / 1e6, plan.bound_bytes() / 1e6,
      plan.model_bytes / 1e6, states / 1e6, gradients / 1e6,
      plan.arena_bytes / 1e6, plan.weight_bytes_read_per_iteration() / 1e6,
      LeastWeightBytesRead(plan) / 1e6,
      plan.swapped_bytes_per_iteration() / 1e6);
}

absl::Status PrintPlans(const Network& network, const AdaptedNetwork& adapted) {
  struct Case {
    const char* name;
    const Network& network;
    MemoryOptions memory;
  };
  MemoryOptions reading;
  reading.read_frozen_weights = true;
  for (const Case& each :
       {Case{"whole", network, {}}, Case{"adapters", adapted.network, {}},
        Case{"base in its file", adapted.network, reading},
        Case{"budget", adapted.network, ReadingOptions()}}) {
    const bool has_budget = each.memory.swap_to_file;
    if (each.name == std::string("budget") && !has_budget) continue;
    const auto plan = PlanExecution(each.network, NetworkMode::kTraining,
                                    each.memory, kAdamStates);
    if (!plan.ok()) return plan.status();
    PrintPlan(each.name, *plan);
  }
  return absl::OkStatus();
}

// Draws words, types and labels.
absl::Status DrawBatch(RandomSequence* random, Manager* manager) {
  const auto fill = [&](absl::StatusOr<absl::Span<int32_t>> values,
                        int64_t below) {
    if (!values.ok()) return values.status();
    for (int32_t& value : *values) {
      value = static_cast<int32_t>(random->Below(static_cast<uint64_t>(below)));
    }
    return absl::OkStatus();
  };
  absl::Status status =
      fill(manager->InputValues<int32_t>(0), absl::GetFlag(FLAGS_words));
  if (status.ok()) status = fill(manager->InputValues<int32_t>(1), 2);
  if (!status.ok()) return status;
  return fill(manager->LabelValues<int32_t>(), absl::GetFlag(FLAGS_classes));
}

absl::Status TrainSteps(Manager* manager) {
  RandomSequence random(kSeed);
  for (int step = 1; step <= absl::GetFlag(FLAGS_steps); ++step) {
    const absl::Status status = DrawBatch(&random, manager);
    if (!status.ok()) return status;
    const auto begin = std::chrono::steady_clock::now();
    const absl::StatusOr<float> loss = manager->TrainStep();
    if (!loss.ok()) return loss.status();
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    std::cout << absl::StrFormat("step %d: loss %.9g, %.2f s", step, *loss,
                                 seconds.count())
              << std::endl;
  }
  return absl::OkStatus();
}

// Trains on the checkpoint, which is read step by step or loaded.
absl::Status TrainOn(const std::string& base, const AdaptedNetwork& adapted) {
  const int64_t begin_bytes = ReadResidentBytes().now_bytes;
  const auto team = MakeTeamBackend(absl::GetFlag(FLAGS_threads));
  const auto plan = PlanExecution(adapted.network, NetworkMode::kTraining,
                                  ReadingOptions(), kAdamStates, *team);
  if (!plan.ok()) return plan.status();
  PrintPlan("training", *plan);
  const auto parameters = Parameters::Create(*plan, kSeed);
  if (!parameters.ok()) return parameters.status();
  ManagerOptions options;
  options.optimizer = Adam(0.001f);
  options.swap_folder = absl::GetFlag(FLAGS_swap_folder);
  ParameterMap map = PyTorchMap(*plan);
  if (absl::GetFlag(FLAGS_in_memory)) {
    map.only = "e*";  // embeddings and encoder
    const absl::Status status =
        LoadBaseParameters(base, map, adapted, parameters->get());
    if (!status.ok()) return status;
  } else {
    options.weights_file = base;
    options.weights_map = map;
  }
  const auto manager = Manager::Create(*plan, *parameters, options);
  if (!manager.ok()) return manager.status();
  const absl::Status status = TrainSteps(manager->get());
  if (!status.ok()) return status;
  std::cout << absl::StrFormat(
      "the process grew by %.1f MB\n",
      (ReadResidentBytes().peak_bytes - begin_bytes) / 1e6);
  const std::string folder = absl::GetFlag(FLAGS_adapters);
  return folder.empty() ? absl::OkStatus()
                        : SaveAdapters(adapted, **parameters, folder);
}

// Fails before the first step if the flags are wrong.
absl::Status CheckFlags() {
  struct Number {
    const char* flag;
    int64_t value;
    int64_t least;
    int64_t most;
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const Number& number :
       {Number{"budget_bytes", absl::GetFlag(FLAGS_budget_bytes), 0, kMost},
        Number{"steps", absl::GetFlag(FLAGS_steps), 1, kMost},
        Number{"threads", absl::GetFlag(FLAGS_threads), 1, 64}}) {
    if (number.value >= number.least && number.value <= number.most) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", number.flag, "=", number.value, ": give at least ",
                     number.least, number.most == kMost ? "" : ", at most ",
                     number.most == kMost ? "" : absl::StrCat(number.most)));
  }
  const std::string folder = absl::GetFlag(FLAGS_adapters);
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return absl::NotFoundError(
        absl::StrCat("--adapters=", folder, " is no folder: make it first"));
  }
  return absl::OkStatus();
}

absl::Status Run() {
  const absl::Status status = CheckFlags();
  if (!status.ok()) return status;
  const Network network = BertNetwork(ShapeOfFlags());
  const auto adapted = AddAdaptersOfFlags(network);
  if (!adapted.ok()) return adapted.status();
  const std::string base = absl::GetFlag(FLAGS_base);
  return base.empty() ? PrintPlans(network, *adapted) : TrainOn(base, *adapted);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  const std::vector<char*> words = footprint::ParseProgramFlags(argc, argv);
  const absl::Status status =
      words.size() == 1 ? footprint::Run()
                        : absl::InvalidArgumentError(absl::StrCat(
                              "unexpected argument \"", words[1],
                              "\": lora_bert takes flags only; see --help"));
  if (status.ok()) return footprint::FinishStandardOutput("lora_bert");
  std::cerr << "lora_bert: " << status << "\n";
  return 1;
}
