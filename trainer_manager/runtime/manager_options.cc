#include "footprint/trainer_manager/runtime/manager_options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace footprint {
namespace {

constexpr size_t kProbeElements = 6;

// A small weight, its gradient and its states.
struct Probe {
  std::array<float, kProbeElements> gradient = {1, -2, 3, -5, 7, -11};
  std::array<float, kProbeElements> weight = {2, 3, -5, 7, -11, 13};
  std::array<std::array<float, kProbeElements>, kMostOptimizerStates> states =
      {};
};

// Trains the probe for two iterations, in parts of so many elements.
Probe TrainProbe(const Optimizer& optimizer, size_t part_elements) {
  Probe probe;
  for (const int64_t iteration : {1, 2}) {
    for (size_t at = 0; at < kProbeElements; at += part_elements) {
      std::array<float*, kMostOptimizerStates> states;
      std::transform(probe.states.begin(), probe.states.end(), states.begin(),
                     [at](auto& state) { return state.data() + at; });
      optimizer.Apply(iteration, static_cast<int64_t>(part_elements),
                      &probe.gradient[at], &probe.weight[at],
                      absl::MakeSpan(states).first(
                          static_cast<size_t>(optimizer.states_per_weight())));
    }
  }
  return probe;
}

// Fails if an optimizer that claims to be elementwise has other bits by parts.
absl::Status CheckElementwise(const Optimizer& optimizer) {
  if (!optimizer.is_elementwise()) return absl::OkStatus();
  const Probe whole = TrainProbe(optimizer, kProbeElements);
  const Probe by_parts = TrainProbe(optimizer, 2);
  if (std::memcmp(&whole, &by_parts, sizeof(Probe)) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the optimizer ", optimizer.name(), " gives a weight of ", kProbeElements,
      " elements other values by parts than as a whole: its "
      "Optimizer::is_elementwise must return false"));
}

}  // namespace

absl::Status CheckOptimizer(const Optimizer* optimizer, int planned_states) {
  if (optimizer == nullptr) {
    return absl::InvalidArgumentError("training needs an optimizer");
  }
  const absl::Status status = optimizer->CheckParameters();
  if (!status.ok()) return status;
  const int states = optimizer->states_per_weight();
  if (states == planned_states && states <= kMostOptimizerStates) {
    return CheckElementwise(*optimizer);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the optimizer has ", states,
                   " states for each weight, but ", planned_states,
                   " are planned: give PlanExecution its states_per_weight()"));
}

absl::Status CheckForTiles(const Optimizer& optimizer) {
  if (optimizer.is_elementwise()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the plan applies parts of a gradient, but the optimizer ",
      optimizer.name(),
      " needs all of it: plan without MemoryOptions::tile_gradients, or "
      "override Optimizer::is_elementwise if it treats each element alone"));
}

absl::Status CheckManagerOptions(const ExecutionPlan& plan,
                                 const ManagerOptions& options) {
  if (plan.mode == NetworkMode::kInference) return absl::OkStatus();
  absl::Status status =
      CheckOptimizer(options.optimizer.get(), plan.optimizer_states);
  if (!status.ok()) return status;
  if (!(options.clip_norm > 0) || !(options.clip_value > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gradients cannot be clipped to a norm of ", options.clip_norm,
        " and values of ", options.clip_value, "; both must be above 0"));
  }
  bool clips = false;
  bool has_tiles = false;
  for (const PlannedStep& step : plan.steps) {
    clips |= step.kind == StepKind::kClipGradients;
    has_tiles |= step.kind == StepKind::kApplyGradientTiles;
  }
  if (has_tiles) status = CheckForTiles(*options.optimizer);
  if (!status.ok()) return status;
  if (!clips && std::isfinite(options.clip_norm)) {
    return absl::InvalidArgumentError(
        "clipping by global norm is not planned: set "
        "MemoryOptions::clip_global_norm");
  }
  return absl::OkStatus();
}

}  // namespace footprint
