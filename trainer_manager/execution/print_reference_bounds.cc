// Prints what the steps of each reference network need at least and take, and
// within which budgets it trains:
// `bazel run -c opt //trainer_manager:print_reference_bounds`. --details lists
// the tensors of each certificate; --pictures=FOLDER draws each plan there.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/base/text/text_table.h"
#include "footprint/trainer_manager/execution/execution_plan.h"
#include "footprint/trainer_manager/execution/training_picture.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/networks/reference_networks.h"

namespace {

using footprint::ExecutionPlan;
using footprint::MemoryOptions;
using footprint::NetworkMode;
using footprint::TextTable;

// The research page's figures for the same batch, in megabytes: what the
// article's rules allow (LB-A), and Debian's PyTorch at its best; 0 if unknown.
struct Row {
  std::string name;
  footprint::Network network;
  double page_megabytes;
  double pytorch_megabytes;
};

constexpr auto kFigures = TextTable::kFigures;

TextTable BoundTable() {
  return TextTable({{"network", TextTable::kWords, 22},
                    {"model", kFigures, 10},
                    {"fixed", kFigures, 10},
                    {"arena", kFigures, 10},
                    {"planned", kFigures, 10},
                    {"bound", kFigures, 10},
                    {"atomic", kFigures, 10},
                    {"debug mode", kFigures, 11},
                    {"LB-A", kFigures, 7},
                    {"PyTorch", kFigures, 7},
                    {"step of the bound"}});
}

TextTable BudgetTable() {
  return TextTable({{"within a budget, 32", TextTable::kWords, 22},
                    {"budget", kFigures, 10},
                    {"planned", kFigures, 10},
                    {"again", kFigures, 9},
                    {"step of the bound"}});
}

int Draw(const ExecutionPlan& plan, const std::string& name,
         const std::string& folder) {
  if (folder.empty()) return 0;
  const std::string path = absl::StrCat(
      folder, "/",
      absl::StrReplaceAll(name, {{" ", "_"}, {",", ""}, {":", ""}}), ".html");
  std::ofstream file(path);
  const int64_t batch =
      plan.tensors[plan.input_tensors[0]].spec.shape.extent(0);
  file << DrawExecution(
      plan, absl::StrCat(name.substr(0, name.find(',')), ", batch ", batch,
                         ": training memory by step"));
  file.close();
  if (file) return 0;
  std::cerr << "cannot write " << path << "\n";
  return 1;
}

absl::StatusOr<footprint::ExecutionPlan> Plan(const footprint::Network& network,
                                              footprint::NetworkMode mode,
                                              const MemoryOptions& options) {
  return footprint::PlanExecution(network, mode, options,
                                  /*optimizer_states=*/0,
                                  footprint::HighwayBackend());
}

// Prints the plan within a budget in bytes.
int PrintWithin(const Row& row, int64_t budget_bytes,
                const std::string& pictures) {
  MemoryOptions options;
  options.budget_bytes = budget_bytes;
  const auto plan = Plan(row.network, NetworkMode::kTraining, options);
  if (!plan.ok()) {
    std::cerr << row.name << ": " << plan.status() << "\n";
    return 1;
  }
  std::cout << BudgetTable().Row(
      {row.name, absl::StrCat(budget_bytes),
       absl::StrCat(plan->planned_bytes()),
       absl::StrFormat("%.1f %%", 100.0 * plan->recompute_products() /
                                      plan->forward_products()),
       StepName(*plan, plan->certificate.step)});
  return Draw(*plan,
              absl::StrCat(row.name, " within ", budget_bytes / 1000000, " MB"),
              pictures);
}

// Prints the plan with all layers frozen but the last one with weights.
int PrintHeadOnly(const Row& row) {
  const auto resolved = ResolveNetwork(row.network, NetworkMode::kTraining);
  if (!resolved.ok()) return 1;
  footprint::Network network = row.network;
  std::string head;
  for (const footprint::ResolvedNetwork::ResolvedLayer& layer :
       resolved->layers) {
    if (!layer.is_trained()) continue;
    if (!head.empty()) network.Freeze(absl::StrCat(head, ".*"));
    head = layer.name;
  }
  const auto plan = Plan(network, NetworkMode::kTraining, {});
  const auto saved = footprint::BytesSavedByFreezing(
      network, {}, /*optimizer_states=*/0, footprint::HighwayBackend());
  if (!plan.ok() || !saved.ok()) {
    std::cerr << row.name << ": " << plan.status() << saved.status() << "\n";
    return 1;
  }
  std::cout << absl::StrFormat(
      "%s, only \"%s\" trained: %d bytes (bound %d); freezing saves %d\n",
      row.name, head, plan->planned_bytes(), plan->bound_bytes(), *saved);
  return 0;
}

int Print(const Row& row, bool details, const std::string& pictures) {
  const auto plan = Plan(row.network, NetworkMode::kTraining, {});
  const auto debug =
      Plan(row.network, NetworkMode::kTraining, MemoryOptions::Debug());
  MemoryOptions all_or_nothing;
  all_or_nothing.atomic_steps = true;
  const auto atomic = Plan(row.network, NetworkMode::kTraining, all_or_nothing);
  if (!plan.ok() || !debug.ok() || !atomic.ok()) {
    std::cerr << row.name << ": " << plan.status() << debug.status()
              << atomic.status() << "\n";
    return 1;
  }
  std::cout << BoundTable().Row(
      {row.name, absl::StrCat(plan->model_bytes),
       absl::StrCat(plan->fixed_bytes), absl::StrCat(plan->arena_bytes),
       absl::StrCat(plan->planned_bytes()), absl::StrCat(plan->bound_bytes()),
       absl::StrCat(atomic->planned_bytes()),
       absl::StrCat(debug->planned_bytes()),
       absl::StrFormat("%.3f", row.page_megabytes),
       absl::StrFormat("%.3f", row.pytorch_megabytes),
       StepName(*plan, plan->certificate.step)});
  if (!details) return Draw(*plan, row.name, pictures);
  for (const size_t t : plan->certificate.tensors) {
    std::cout << absl::StrFormat("    %11d  %s\n", plan->tensors[t].size_bytes,
                                 plan->tensors[t].name);
  }
  return Draw(*plan, row.name, pictures);
}

}  // namespace

int main(int argc, char** argv) {
  // Reads the flags.
  bool details = false;
  std::string pictures;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--details") {
      details = true;
    } else if (absl::StartsWith(argument, "--pictures=")) {
      pictures = argument.substr(argument.find('=') + 1);
    } else {
      std::cerr << "unknown argument " << argument
                << "; there are --details and --pictures=FOLDER\n";
      return 2;
    }
  }
  // Prints the bound of each network without a budget.
  std::cout
      << "SGD, batch 32 unless said; bytes (the last two before the step: "
         "MB, 1e6)\nthese steps need at least the bound; atomic: planned with "
         "atomic_steps\n"
      << BoundTable().Headings();
  int failed = 0;
  for (const Row& row : std::vector<Row>{
           {"MLP 13-50-50-1", footprint::TabularMlp(32), 0.0380, 0.0682},
           {"MLP 13-50-50-1, 64", footprint::TabularMlp(64), 0.0552, 0},
           {"MLP 784-512-512-10", footprint::DigitMlp(32), 4.45, 6.09},
           {"LeNet-5", footprint::LeNet5(32), 0, 0},
           {"LeNet 6-12", footprint::SmallLeNet(32), 1.11, 2.05},
           {"LeNet 6-12, 64", footprint::SmallLeNet(64), 2.21, 0},
           {"VGG16", footprint::Vgg16(32), 112.6, 164.1},
           {"VGG16, 64", footprint::Vgg16(64), 156.2, 210.7},
           {"ResNet-18", footprint::ResNet18(32), 197.4, 226.0},
           {"ResNet-18, 64", footprint::ResNet18(64), 340.4, 366.9},
           {"transformer", footprint::SmallTransformer(32), 41.8, 57.9},
           {"transformer, 64", footprint::SmallTransformer(64), 80.4, 113.0}}) {
    failed |= Print(row, details, pictures);
  }
  // Prints networks within a budget, and with frozen layers.
  std::cout << "\n" << BudgetTable().Headings();
  failed |=
      PrintWithin({"VGG16", footprint::Vgg16(32), 0, 0}, 80000000, pictures);
  failed |= PrintWithin({"ResNet-18", footprint::ResNet18(32), 0, 0}, 105000000,
                        pictures);
  failed |= PrintWithin({"transformer", footprint::SmallTransformer(32), 0, 0},
                        26000000, pictures);
  failed |= PrintHeadOnly({"VGG16", footprint::Vgg16(32), 0, 0});
  failed |= PrintHeadOnly({"ResNet-18", footprint::ResNet18(32), 0, 0});
  // Prints one inference.
  const auto vgg = Plan(footprint::Vgg16(1), NetworkMode::kInference, {});
  if (!vgg.ok()) return 1;
  std::cout << absl::StrFormat(
      "VGG16, inference, batch 1: arena %d bytes (bound %d)\n",
      vgg->arena_bytes, vgg->certificate.bytes);
  return footprint::FinishStandardOutput("print_reference_bounds", failed);
}
