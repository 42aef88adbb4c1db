// The search for what to slice, drop and swap, so that a plan of one network
// fits a budget.
//
//   const footprint::PlanSearch search(resolved, math, options, states);
//   absl::StatusOr<footprint::ExecutionPlan> plan = search.Run();
//   // plan->planned_bytes() <= options.budget_bytes, or nothing fits.
//
// Greedy: of what the certificate names, that goes next which lowers the bound
// most, a layer at a time, and is calculated again at most once. Where that
// ends, a local search goes on (choice_descent.h), which may calculate again
// more often; swapping comes last. That is a path which does not depend on the
// budget. The first plan on it whose packed height fits is taken, and then what
// need not go comes back. If none fits, the lowest is the answer; its size is a
// budget that the same search meets.
//
// The greedy path looks at every choice as long as that takes some tenths of a
// second; in larger networks, from there on, at those that free most bytes.
//
// Refers to its arguments. Pure, thread-safe. Memory: a plan or two, and eight
// bytes a layer for each step of the path. Time: half a second for each greedy
// path, some fifths of one for each local search, and the plans that are
// placed.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_PLAN_SEARCH_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_PLAN_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/trainer_manager/execution/bounded_plan.h"
#include "footprint/trainer_manager/execution/choice_descent.h"
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
  // Choices in the order in which they were come by, where the greedy walk is,
  // and the plan of the last choices if it is within the budget.
  struct Path {
    std::vector<BoundedChoices> points;
    BoundedChoices walked;
    absl::optional<ExecutionPlan> found;
    int64_t walk_steps_left = 0;  // in all plans that a walk bounds
  };

  absl::Status Start(Path* path) const;
  absl::Status Add(BoundedChoices point, Path* path) const;
  absl::Status Walk(bool swaps, Path* path) const;
  absl::Status Descend(bool swaps, Path* path) const;
  absl::StatusOr<ExecutionPlan> Bound(const StepChoices& choices,
                                      Path* path) const;
  absl::Status Slice(StepChoices* choices, ExecutionPlan* bounded,
                     Path* path) const;
  absl::StatusOr<absl::optional<BoundedChoices>> Drop(Path* path) const;
  absl::StatusOr<absl::optional<BoundedChoices>> Swap(Path* path) const;
  void KeepFew(const Path& path, std::vector<size_t>* layers) const;
  absl::StatusOr<ExecutionPlan> KeepAgain(const StepChoices& choices,
                                          ExecutionPlan plan) const;
  absl::StatusOr<ExecutionPlan> Lowest(std::vector<BoundedChoices> path) const;
  size_t LayerToSlice(const ExecutionPlan& plan) const;

  const ResolvedNetwork& network_;
  const MemoryOptions& options_;
  const PlanBuilder builder_;
  const bool may_swap_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_PLAN_SEARCH_H_
