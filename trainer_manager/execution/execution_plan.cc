#include "footprint/trainer_manager/execution/execution_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/execution/plan_search.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/assign_groups.h"
#include "footprint/trainer_manager/networks/parameter_group.h"

namespace footprint {
namespace {

// Blocks of memory (memory_block.h) have no larger alignment.
constexpr int64_t kMostAlignmentBytes = 64;

// Returns the network for one part of its batch.
absl::StatusOr<Network> SplitBatch(const Network& network, NetworkMode mode,
                                   int64_t parts) {
  if (parts == 1) return network;
  Network split;
  for (const Network::Input& input : network.inputs()) {
    const absl::StatusOr<int64_t> bytes = CheckedSizeBytes(input.spec);
    if (!bytes.ok()) return bytes.status();
    TensorType part = input.spec;
    if (mode != NetworkMode::kTraining || parts < 1 || part.shape.rank() == 0 ||
        part.shape.extent(0) % parts != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input \"", input.name, "\" of shape ", part.shape.ToString(),
          " cannot be trained with in ", parts, " micro-batches"));
    }
    part.shape.set_extent(0, part.shape.extent(0) / parts);
    split.AddInput(input.name, part);
  }
  for (const Network::Node& node : network.nodes()) {
    split.AddLayer(node.name, node.layer, node.inputs, node.weights_of);
  }
  for (const ParameterGroup& group : network.groups()) split.AddGroup(group);
  return split;
}

// Returns the numbers of micro-batches to try, the smallest first: that of the
// options and, if the search may choose, every larger number that divides all
// batches.
std::vector<int64_t> PartsToTry(const Network& network, NetworkMode mode,
                                const MemoryOptions& options) {
  std::vector<int64_t> parts = {options.micro_batches};
  if (!options.choose_micro_batches || mode != NetworkMode::kTraining ||
      options.micro_batches < 1) {
    return parts;
  }
  int64_t batch = 0;
  for (const Network::Input& input : network.inputs()) {
    const Shape& shape = input.spec.shape;
    batch = std::gcd(batch, shape.rank() == 0 ? 1 : shape.extent(0));
  }
  // For an enormous batch not all divisors are found.
  constexpr int64_t kMostTried = int64_t{1} << 16;
  for (int64_t i = 1; i <= kMostTried && i <= batch / i; ++i) {
    if (batch % i != 0) continue;
    for (const int64_t more : {i, batch / i}) {
      if (more > options.micro_batches) parts.push_back(more);
    }
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

absl::StatusOr<ExecutionPlan> PlanInParts(const Network& network,
                                          NetworkMode mode,
                                          MemoryOptions options, int64_t parts,
                                          bool may_swap, int optimizer_states,
                                          const MathBackend& math) {
  const absl::StatusOr<Network> part = SplitBatch(network, mode, parts);
  if (!part.ok()) return part.status();
  absl::StatusOr<ResolvedNetwork> resolved = ResolveNetwork(
      *part, mode, math, options.pack_winners, options.keep_loss);
  if (!resolved.ok()) return resolved.status();
  const absl::Status status =
      AssignGroups(math, options.pack_winners, &*resolved);
  if (!status.ok()) return status;
  if (options.read_frozen_weights && mode == NetworkMode::kInference) {
    MarkFrozen(&*resolved);
  }
  options.micro_batches = parts;
  return PlanSearch(*std::move(resolved), math, options, optimizer_states,
                    may_swap)
      .Run();
}

// Returns changes that may need less memory than the steps that the options
// allow.
std::string WhatMayNeedLess(const ExecutionPlan& lowest,
                            const MemoryOptions& options) {
  std::string less = "a smaller batch";
  if (lowest.math->threads() > 1) absl::StrAppend(&less, ", fewer threads");
  if (lowest.mode != NetworkMode::kTraining) return less;
  if (!options.choose_micro_batches) {
    absl::StrAppend(&less, ", MemoryOptions::choose_micro_batches");
    for (const ResolvedNetwork::ResolvedLayer& layer : lowest.network->layers) {
      if (layer.signature.statistics.empty() || !layer.depends_on_batch()) {
        continue;
      }
      absl::StrAppend(&less, " (then layer \"", layer.name,
                      "\" normalizes over a part of the batch: the result is "
                      "another)");
      break;
    }
  }
  if (!options.swap_to_file) {
    absl::StrAppend(&less, ", MemoryOptions::swap_to_file");
  }
  return less;
}

absl::Status Refuse(const ExecutionPlan& lowest, const MemoryOptions& options) {
  const std::string where =
      lowest.steps.empty()
          ? ""
          : absl::StrCat(", at ", StepName(lowest, lowest.certificate.step));
  return absl::ResourceExhaustedError(
      absl::StrCat("infeasible within ", options.budget_bytes,
                   " bytes: the minimum found is ", lowest.planned_bytes(),
                   " bytes", where, "; a budget of that size would do; ",
                   WhatMayNeedLess(lowest, options), " may need less"));
}

// Returns a plan within the budget or, if none is found, the lowest.
absl::StatusOr<ExecutionPlan> FindLowPlan(const Network& network,
                                          NetworkMode mode,
                                          const MemoryOptions& options,
                                          int optimizer_states,
                                          const MathBackend& math) {
  const int64_t alignment = options.alignment_bytes;
  if (alignment < 4 || alignment > kMostAlignmentBytes ||
      (alignment & (alignment - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an alignment of ", alignment, " bytes; a power of two from 4 to ",
        kMostAlignmentBytes, " is needed"));
  }
  if (optimizer_states < 0 || optimizer_states > kMostOptimizerStates) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an optimizer of ", optimizer_states, " states for each weight; 0 to ",
        kMostOptimizerStates, " can be planned"));
  }
  const std::vector<int64_t> parts_to_try = PartsToTry(network, mode, options);
  absl::StatusOr<ExecutionPlan> lowest = absl::UnknownError("nothing is tried");
  // Plans that use a file are tried last.
  for (const bool may_swap : {false, true}) {
    if (may_swap && !options.swap_to_file) break;
    // With one number of parts, the search itself swaps last.
    if (!may_swap && options.swap_to_file && parts_to_try.size() == 1) continue;
    for (const int64_t parts : parts_to_try) {
      absl::StatusOr<ExecutionPlan> plan = PlanInParts(
          network, mode, options, parts, may_swap, optimizer_states, math);
      // A part may be too small for normalization over its batch.
      if (!plan.ok() && parts != options.micro_batches) break;
      if (!plan.ok()) return plan;
      if (!lowest.ok() || plan->planned_bytes() < lowest->planned_bytes()) {
        lowest = std::move(plan);
      }
      if (lowest->planned_bytes() <= options.budget_bytes) return lowest;
    }
  }
  return lowest;
}

}  // namespace

absl::StatusOr<ExecutionPlan> PlanExecution(const Network& network,
                                            NetworkMode mode,
                                            const MemoryOptions& options,
                                            int optimizer_states,
                                            const MathBackend& math) {
  absl::StatusOr<ExecutionPlan> plan =
      FindLowPlan(network, mode, options, optimizer_states, math);
  if (!plan.ok() || plan->planned_bytes() <= options.budget_bytes) return plan;
  return Refuse(*plan, options);
}

absl::StatusOr<ExecutionPlan> PlanInferenceBeside(const ExecutionPlan& training,
                                                  const Network& network,
                                                  const MemoryOptions& options,
                                                  const MathBackend& math) {
  MemoryOptions memory;
  memory.alignment_bytes = options.alignment_bytes;
  memory.read_frozen_weights = options.read_frozen_weights;
  memory.keep_loss = options.keep_loss;
  const auto plan = [&] {
    return FindLowPlan(network, NetworkMode::kInference, memory,
                       /*optimizer_states=*/0, math);
  };
  absl::StatusOr<ExecutionPlan> inference = plan();
  if (!options.read_frozen_weights || !inference.ok() ||
      inference->arena_bytes <= training.arena_bytes) {
    return inference;
  }
  // No choice of steps changes the bytes outside of the arena.
  memory.budget_bytes =
      inference->model_bytes + inference->fixed_bytes + training.arena_bytes;
  return plan();
}

absl::StatusOr<ExecutionPlan> PlanEvaluationBeside(
    const ExecutionPlan& training, const Network& network,
    const MemoryOptions& options, const MathBackend& math) {
  MemoryOptions memory = options;
  memory.keep_loss = true;
  absl::StatusOr<ExecutionPlan> whole =
      PlanInferenceBeside(training, network, memory, math);
  const auto& layers = training.network->layers;
  const bool ignores_label =
      std::any_of(layers.begin(), layers.end(), [](const auto& layer) {
        return layer.signature.ignored_label.has_value();
      });
  if (!whole.ok() ||
      whole->arena_bytes + whole->fixed_bytes <= training.arena_bytes ||
      training.micro_batches == 1 || ignores_label) {
    return whole;
  }
  const absl::StatusOr<Network> part =
      SplitBatch(network, training.mode, training.micro_batches);
  if (!part.ok()) return part.status();
  return PlanInferenceBeside(training, *part, memory, math);
}

absl::StatusOr<int64_t> BytesSavedByFreezing(const Network& network,
                                             const MemoryOptions& options,
                                             int optimizer_states,
                                             const MathBackend& math) {
  MemoryOptions without_limit = options;
  without_limit.budget_bytes = std::numeric_limits<int64_t>::max();
  const auto plan = [&](const Network& which) {
    return PlanExecution(which, NetworkMode::kTraining, without_limit,
                         optimizer_states, math);
  };
  Network trained;
  for (const Network::Input& input : network.inputs()) {
    trained.AddInput(input.name, input.spec);
  }
  for (const Network::Node& node : network.nodes()) {
    trained.AddLayer(node.name, node.layer, node.inputs, node.weights_of);
  }
  const absl::StatusOr<ExecutionPlan> frozen = plan(network);
  if (!frozen.ok()) return frozen.status();
  const absl::StatusOr<ExecutionPlan> whole = plan(trained);
  if (!whole.ok()) return whole.status();
  return whole->planned_bytes() - frozen->planned_bytes();
}

}  // namespace footprint
