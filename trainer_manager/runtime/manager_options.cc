#include "footprint/trainer_manager/runtime/manager_options.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace footprint {

absl::Status CheckOptimizer(const Optimizer* optimizer, int planned_states) {
  if (optimizer == nullptr) {
    return absl::InvalidArgumentError("training needs an optimizer");
  }
  const absl::Status status = optimizer->CheckParameters();
  if (!status.ok()) return status;
  const int states = optimizer->states_per_weight();
  if (states == planned_states && states <= kMostOptimizerStates) {
    return absl::OkStatus();
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
