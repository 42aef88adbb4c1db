// Trains a reference network step by step on request, for step_time.py.
//
//   training_steps --network=vgg16 --recompute=false
//   training_steps --network=vgg16 --write_weights=vgg16.safetensors
//   training_steps --train_only=fc2 --weights_file=vgg16.safetensors
//
// After one step, writes "ready", the planned figures and the number of
// weights. Then, for each line it reads, it trains as many steps as --steps
// says and writes the processor time of one step in seconds, or the time that
// --time names. At the end it writes the largest growth of the resident set
// since the program began.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"

ABSL_FLAG(std::string, network, "vgg16",
          "digits (784-512-512-10), lenet5, vgg16, resnet18 or transformer");
ABSL_FLAG(int64_t, batch, 32, "number of elements in a batch");
ABSL_FLAG(bool, recompute, true,
          "drop cheap outputs and compute them again in the backward pass");
ABSL_FLAG(int64_t, budget_bytes, 0,
          "maximum of the planned bytes; 0 means no limit");
ABSL_FLAG(bool, micro_batches, false,
          "let the plan split batches into micro-batches to meet the budget");
ABSL_FLAG(bool, atomic, false,
          "change no weight before all gradients are known");
ABSL_FLAG(std::string, swap_folder, "",
          "let the plan swap outputs to a file in this folder to meet the "
          "budget; empty forbids it");
ABSL_FLAG(
    std::string, train_only, "",
    "the only layer to train, which freezes all others; empty trains all");
ABSL_FLAG(std::string, weights_file, "",
          "read the frozen weights from this file, step by step");
ABSL_FLAG(std::string, write_weights, "",
          "write the initial weights to this file, and end");
ABSL_FLAG(std::string, optimizer, "sgd", "sgd or adam");
ABSL_FLAG(int, steps, 1, "number of steps to train for each line read");
ABSL_FLAG(int, threads, 1, "number of threads that share each step");
ABSL_FLAG(
    std::string, time, "process",
    "which time to print: process (processor time of the process), "
    "thread (processor time of the calling thread, which does at least as "
    "much as the others) or wall (the time that passes)");

namespace footprint {
namespace {

absl::StatusOr<clockid_t> NamedClock(const std::string& name) {
  if (name == "process") return CLOCK_PROCESS_CPUTIME_ID;
  if (name == "thread") return CLOCK_THREAD_CPUTIME_ID;
  if (name == "wall") return CLOCK_MONOTONIC;
  return absl::InvalidArgumentError("no time is named " + name);
}

double ReadSeconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

absl::StatusOr<Network> NamedNetwork(const std::string& name, int64_t batch) {
  if (name == "digits") return DigitMlp(batch);
  if (name == "lenet5") return LeNet5(batch);
  if (name == "vgg16") return Vgg16(batch);
  if (name == "resnet18") return ResNet18(batch);
  if (name == "transformer") return SmallTransformer(batch);
  return absl::InvalidArgumentError("no network is named " + name);
}

absl::StatusOr<OptimizerPointer> NamedOptimizer(const std::string& name) {
  if (name == "sgd") return StochasticGradientDescent(0.01f);
  if (name == "adam") return Adam(0.001f);
  return absl::InvalidArgumentError("no optimizer is named " + name);
}

// Fills inputs with images and classes, or with tokens that are also the
// labels.
absl::Status SetData(const ExecutionPlan& plan, uint64_t classes,
                     Manager* manager) {
  RandomSequence random(1);
  const auto count = [&plan](size_t tensor) {
    return static_cast<size_t>(plan.tensors[tensor].spec.shape.elements() *
                               plan.micro_batches);
  };
  const size_t input = plan.input_tensors[0];
  const bool tokens = plan.tensors[input].spec.type == DType::kI32;
  std::vector<int32_t> indices(count(plan.label_tensors[0]));
  for (int32_t& i : indices) i = static_cast<int32_t>(random.Below(classes));
  const absl::Status status = manager->SetLabel(indices);
  if (!status.ok()) return status;
  if (tokens) return manager->SetInput(0, indices);
  std::vector<float> pixels(count(input));
  for (float& p : pixels)
    p = static_cast<float>(random.Below(2000)) / 1000.0f - 1.0f;
  return manager->SetInput(0, pixels);
}

MemoryOptions MemoryOfFlags() {
  MemoryOptions memory;
  memory.recompute_outputs = absl::GetFlag(FLAGS_recompute);
  memory.restore_pooled = absl::GetFlag(FLAGS_recompute);
  if (absl::GetFlag(FLAGS_budget_bytes) > 0) {
    memory.budget_bytes = absl::GetFlag(FLAGS_budget_bytes);
  }
  memory.atomic_steps = absl::GetFlag(FLAGS_atomic);
  memory.choose_micro_batches = absl::GetFlag(FLAGS_micro_batches);
  memory.swap_to_file = !absl::GetFlag(FLAGS_swap_folder).empty();
  memory.read_frozen_weights = !absl::GetFlag(FLAGS_weights_file).empty();
  return memory;
}

// Freezes all layers with weights but the one of this name.
absl::Status FreezeOthers(const std::string& trained, Network* network) {
  const auto resolved = ResolveNetwork(*network, NetworkMode::kTraining);
  if (!resolved.ok()) return resolved.status();
  for (const ResolvedNetwork::ResolvedLayer& layer : resolved->layers) {
    if (layer.is_trained() && layer.name != trained) {
      network->Freeze(layer.name + ".*");
    }
  }
  return absl::OkStatus();
}

// Returns the number of weights, without the statistics of normalizations.
absl::StatusOr<int64_t> CountWeights(const Network& network) {
  const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
  if (!resolved.ok()) return resolved.status();
  int64_t count = 0;
  for (const ResolvedNetwork::ResolvedLayer& layer : resolved->layers) {
    for (const WeightSpec& weight : layer.signature.weights) {
      count += weight.spec.shape.elements();
    }
  }
  return count;
}

// Answers each line with the time of a step.
absl::Status ServeSteps(clockid_t clock, Manager* manager) {
  const int steps = std::max(1, absl::GetFlag(FLAGS_steps));
  std::string line;
  while (std::getline(std::cin, line)) {
    const double begin = ReadSeconds(clock);
    for (int step = 0; step < steps; ++step) {
      const absl::StatusOr<float> loss = manager->TrainStep();
      if (!loss.ok()) return loss.status();
    }
    std::cout << (ReadSeconds(clock) - begin) / steps << std::endl;
  }
  return absl::OkStatus();
}

absl::Status Run() {
  const int64_t begin_bytes = ReadResidentBytes().now_bytes;
  absl::StatusOr<Network> network =
      NamedNetwork(absl::GetFlag(FLAGS_network), absl::GetFlag(FLAGS_batch));
  if (!network.ok()) return network.status();
  const std::string trained = absl::GetFlag(FLAGS_train_only);
  absl::Status status;
  if (!trained.empty()) status = FreezeOthers(trained, &*network);
  if (!status.ok()) return status;
  const absl::StatusOr<clockid_t> clock = NamedClock(absl::GetFlag(FLAGS_time));
  if (!clock.ok()) return clock.status();
  const auto optimizer = NamedOptimizer(absl::GetFlag(FLAGS_optimizer));
  if (!optimizer.ok()) return optimizer.status();
  const auto weights = CountWeights(*network);
  if (!weights.ok()) return weights.status();
  const auto team = MakeTeamBackend(absl::GetFlag(FLAGS_threads));
  const auto plan =
      PlanExecution(*network, NetworkMode::kTraining, MemoryOfFlags(),
                    (*optimizer)->states_per_weight(), *team);
  if (!plan.ok()) return plan.status();
  const auto parameters = Parameters::Create(*plan, /*seed=*/1);
  if (!parameters.ok()) return parameters.status();
  const std::string written = absl::GetFlag(FLAGS_write_weights);
  if (!written.empty()) return SaveParameters(**parameters, written);
  ManagerOptions options;
  options.optimizer = *optimizer;
  options.swap_folder = absl::GetFlag(FLAGS_swap_folder);
  options.weights_file = absl::GetFlag(FLAGS_weights_file);
  const auto manager = Manager::Create(*plan, *parameters, options);
  if (!manager.ok()) return manager.status();
  const std::string name = absl::GetFlag(FLAGS_network);
  const uint64_t classes = name == "digits" || name == "lenet5" ? 10 : 100;
  status = SetData(*plan, classes, manager->get());
  if (!status.ok()) return status;
  const absl::StatusOr<float> loss = (*manager)->TrainStep();
  if (!loss.ok()) return loss.status();
  for (const std::string& layer : plan->LayersOfPartStatistics()) {
    std::cerr << "training_steps: layer " << layer
              << " normalizes over a part of the batch\n";
  }
  std::cout << "ready planned " << plan->planned_bytes() << " reads "
            << plan->weight_bytes_read_per_iteration() << " weights "
            << *weights << std::endl;
  status = ServeSteps(*clock, manager->get());
  if (!status.ok()) return status;
  std::cout << ReadResidentBytes().peak_bytes - begin_bytes << std::endl;
  return absl::OkStatus();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = footprint::Run();
  if (status.ok()) return footprint::FinishStandardOutput("training_steps");
  std::cerr << "training_steps: " << status << "\n";
  return 1;
}
