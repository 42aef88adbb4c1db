#include "footprint/trainer_manager/runtime/manager_options.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace footprint {

absl::Status CheckManagerOptions(const ExecutionPlan& plan,
                                 const ManagerOptions& options) {
  if (plan.mode == NetworkMode::kInference) return absl::OkStatus();
  if (options.optimizer == nullptr) {
    return absl::InvalidArgumentError("training needs an optimizer");
  }
  const absl::Status status = options.optimizer->CheckParameters();
  if (!status.ok()) return status;
  const int states = options.optimizer->states_per_weight();
  if (states != plan.optimizer_states || states > kMostOptimizerStates) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the optimizer has ", states, " states for each weight, but ",
        plan.optimizer_states,
        " are planned: give PlanExecution its states_per_weight()"));
  }
  if (!(options.clip_norm > 0) || !(options.clip_value > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gradients cannot be clipped to a norm of ", options.clip_norm,
        " and values of ", options.clip_value, "; both must be above 0"));
  }
  bool clips = false;
  for (const PlannedStep& step : plan.steps) {
    clips |= step.kind == StepKind::kClipGradients;
  }
  if (!clips && std::isfinite(options.clip_norm)) {
    return absl::InvalidArgumentError(
        "clipping by global norm is not planned: set "
        "MemoryOptions::clip_global_norm");
  }
  return absl::OkStatus();
}

}  // namespace footprint
