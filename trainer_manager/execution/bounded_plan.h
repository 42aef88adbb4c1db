// Makes the plan of one network for given choices, either with a lower bound
// only or with every tensor placed.
//
//   const PlanBuilder builder(resolved, math, options, states);
//   absl::StatusOr<footprint::ExecutionPlan> plan = builder.Bound(choices);
//   // plan->bound_bytes() is a lower bound for every placement.
//
// It serves searches among choices (plan_search.h). Keeps references to its
// arguments, which must outlive it. Pure, thread-safe. Memory: that of a plan.
// Time: linear in the steps for a bound; that of planning (planner.h) for
// offsets.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_BOUNDED_PLAN_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_BOUNDED_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/trainer_manager/execution/execution_steps.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

class PlanBuilder {
 public:
  // `options.micro_batches` must be the number of parts of the batch; `network`
  // has the shapes of one part.
  PlanBuilder(const ResolvedNetwork& network, const MathBackend& math,
              const MemoryOptions& options, int optimizer_states)
      : network_(network),
        math_(math),
        options_(options),
        optimizer_states_(optimizer_states) {}

  const ResolvedNetwork& network() const { return network_; }
  const MemoryOptions& options() const { return options_; }

  // Returns a plan whose arena has a lower bound but no offsets and no height,
  // so that planned_bytes() says nothing. Errors: those of BuildSteps,
  // AssignStorages and CheckRequests; OutOfRange if the bytes do not fit 64
  // bits.
  absl::StatusOr<ExecutionPlan> Bound(const StepChoices& choices) const {
    return Bound(choices, network_);
  }
  // Does the same, but moves `network` into the plan instead of copying its
  // own. It must be an equal network, such as that of an earlier plan.
  absl::StatusOr<ExecutionPlan> Bound(const StepChoices& choices,
                                      ResolvedNetwork network) const;

  // Returns a plan with offsets, but without a fingerprint. Errors: those of
  // BuildSteps, AssignStorages and PlanMemory; OutOfRange if the bytes do not
  // fit 64 bits.
  absl::StatusOr<ExecutionPlan> Plan(const StepChoices& choices) const;

  // Does the same, but returns nullopt if the plan is above the budget.
  absl::StatusOr<absl::optional<ExecutionPlan>> PlanIfItFits(
      const StepChoices& choices, int64_t budget_bytes) const;

  // Swaps outputs in place of recomputing them if the recomputation would read
  // more bytes of frozen weights from their file than swapping writes and
  // reads. The plan then never needs more memory.
  void PreferSwaps(StepChoices* choices) const;

 private:
  absl::StatusOr<ExecutionPlan> BuildStorages(const StepChoices& choices,
                                              ResolvedNetwork network) const;

  const ResolvedNetwork& network_;
  const MathBackend& math_;
  const MemoryOptions& options_;
  const int optimizer_states_;
};

// These return whether the options let steps calculate derivatives by slices,
// and whether they let outputs be absent between forward and backward steps.
bool MaySlice(const MemoryOptions& options);
bool MayDrop(const ResolvedNetwork& network, const MemoryOptions& options);

// Returns the layers whose outputs lie in the arena at the step that proves the
// lower bound (CertificateTensors), whether forward steps left them there or
// they were recomputed.
std::vector<size_t> LayersInCertificate(const ExecutionPlan& plan);

}  // namespace footprint

// Tested by plan_search_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_BOUNDED_PLAN_H_
