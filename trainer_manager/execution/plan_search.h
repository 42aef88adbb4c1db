// Searches for choices of what to slice, drop and swap so that the plan of one
// network fits a budget.
//
//   const footprint::PlanSearch search(resolved, math, options, states,
//                                      /*may_swap=*/false);
//   absl::StatusOr<footprint::ExecutionPlan> plan = search.Run();
//   // plan->planned_bytes() <= options.budget_bytes, or nothing fits.
//
// The search is greedy. It divides all gradients into tiles if that lowers the
// bound; as long as that does not raise the bound, it divides a gradient in the
// certificate. Then, one layer at a time, it drops
// the output in the certificate whose drop lowers the bound most, and
// recomputes each at most once. When that ends, a local search
// (choice_descent.h) continues, which may recompute more often; swapping comes
// last. This path does not depend on the budget. The search takes the first
// plan on it whose packed height fits, and then keeps those outputs again that
// need not be dropped. If no plan fits, it returns the lowest one; the same
// search meets a budget of that size. If frozen weights stay in their file,
// swapping comes first for outputs whose recomputation would read more bytes
// (PlanBuilder::PreferSwaps). Before anything is dropped or swapped, matrices
// that are larger than the least tile are read by tiles. What the budget leaves
// first makes the tiles larger, up to 4 MiB, then keeps weights from their
// forward to their backward steps, and at last makes the tiles larger still.
//
// The greedy path tries every choice during its first tenths of a second. In
// larger networks it then tries only those that free the most bytes.
//
// Refers to `math` and `options`. Pure, thread-safe. Memory: a plan or two, and
// eight bytes a layer for each step of the path. Time: half a second for each
// greedy path, some fifths of a second for each local search, and the time to
// place the plans.

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
  // `options` is that of PlanExecution, with the micro-batches of which
  // `network` is one part. Nothing is swapped unless `may_swap`.
  PlanSearch(ResolvedNetwork network, const MathBackend& math,
             const MemoryOptions& options, int optimizer_states, bool may_swap);

  // Returns the first plan within the budget, or else the lowest. Errors: those
  // of PlanBuilder.
  absl::StatusOr<ExecutionPlan> Run() const;

 private:
  // The choices in the order in which they were found, the position of the
  // greedy walk, and the plan of the last choices if it is within the budget.
  struct Path {
    std::vector<BoundedChoices> points;
    BoundedChoices walked;
    absl::optional<ExecutionPlan> found;
    int64_t walk_steps_left = 0;  // summed over all plans that a walk bounds
  };

  struct PlannedChoices {
    StepChoices choices;
    ExecutionPlan plan;
  };

  absl::Status Start(int64_t tile_bytes, Path* path) const;
  absl::Status Add(BoundedChoices point, Path* path) const;
  absl::Status Walk(bool swaps, Path* path) const;
  absl::Status Descend(bool swaps, Path* path) const;
  absl::StatusOr<BoundedGraph> Bound(const StepChoices& choices,
                                     Path* path) const;
  absl::StatusOr<int64_t> Slice(StepChoices* choices, Path* path) const;
  absl::StatusOr<absl::optional<BoundedChoices>> TileAllGradients(
      Path* path) const;
  absl::StatusOr<absl::optional<BoundedChoices>> TileGradient(Path* path) const;
  absl::StatusOr<absl::optional<BoundedChoices>> Drop(Path* path) const;
  absl::StatusOr<absl::optional<BoundedChoices>> Swap(Path* path) const;
  void KeepFew(const Path& path, std::vector<size_t>* layers) const;
  absl::Status Try(StepChoices trial, int64_t budget_bytes,
                   PlannedChoices* best) const;
  absl::Status EnlargeTiles(int64_t most_bytes, int64_t budget_bytes,
                            PlannedChoices* best) const;
  absl::Status KeepWeights(int64_t budget_bytes, PlannedChoices* best) const;
  absl::StatusOr<ExecutionPlan> KeepAgain(StepChoices choices,
                                          int64_t budget_bytes,
                                          ExecutionPlan plan) const;
  absl::StatusOr<ExecutionPlan> Lowest(std::vector<BoundedChoices> path) const;
  size_t LayerToSlice(const BoundedGraph& graph) const;

  const MemoryOptions& options_;
  const PlanBuilder builder_;
  const ResolvedNetwork& network_;  // of the builder
  const bool may_swap_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_PLAN_SEARCH_H_
