// The search for what to slice, drop and swap, so that a plan of one network
// fits a budget.
//
//   const footprint::PlanSearch search(resolved, math, options, states);
//   absl::StatusOr<footprint::ExecutionPlan> plan = search.Run();
//   // plan->planned_bytes() <= options.budget_bytes, or nothing fits.
//
// Greedy: of what the certificate names, that goes next which lowers the bound
// most, a layer at a time; that is a path which does not depend on the budget.
// The first plan on it whose packed height fits is taken, and then what need
// not go comes back. If none fits, the lowest is the answer; its size is a
// budget that the same search meets.
//
// Refers to its arguments. Pure, thread-safe. Memory: a plan or two, and eight
// bytes a layer for each step of the path. Time: a bound for each choice.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_PLAN_SEARCH_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_PLAN_SEARCH_H_

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

class PlanSearch {
 public:
  // `options` as in PlanExecution, with the micro-batches that `network` is a
  // part of. Nothing is swapped unless `may_swap`.
  PlanSearch(const ResolvedNetwork& network, const MathBackend& math,
             const MemoryOptions& options, int optimizer_states, bool may_swap);

  // The first plan within the budget, or else the lowest. Errors: those of
  // BuildSteps and PlanMemory.
  absl::StatusOr<ExecutionPlan> Run() const;

 private:
  // Choices, and the bound of their plan.
  struct Point {
    StepChoices choices;
    int64_t bound_bytes = 0;
  };

  absl::StatusOr<ExecutionPlan> BuildStorages(const StepChoices& choices) const;
  absl::StatusOr<ExecutionPlan> Bound(const StepChoices& choices) const;
  absl::StatusOr<ExecutionPlan> Plan(const StepChoices& choices) const;
  absl::StatusOr<absl::optional<ExecutionPlan>> PlanIfItFits(
      const StepChoices& choices) const;
  absl::Status Slice(StepChoices* choices, ExecutionPlan* bounded) const;
  absl::StatusOr<absl::optional<Point>> Drop(const Point& from) const;
  absl::StatusOr<absl::optional<Point>> Swap(const Point& from) const;
  absl::StatusOr<ExecutionPlan> KeepAgain(const StepChoices& choices,
                                          ExecutionPlan plan) const;
  absl::StatusOr<ExecutionPlan> Lowest(std::vector<Point> path) const;
  bool MaySlice() const;
  bool MayDrop() const;
  size_t LayerToSlice(const ExecutionPlan& plan) const;
  std::vector<size_t> LayersInCertificate(const ExecutionPlan& plan) const;

  const ResolvedNetwork& network_;
  const MathBackend& math_;
  const MemoryOptions& options_;
  const int optimizer_states_;
  const bool may_swap_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_PLAN_SEARCH_H_
