// Makes the plan of one network for given choices, either with a lower bound
// only or with every tensor placed.
//
//   const PlanBuilder builder(resolved, math, options, states);
//   absl::StatusOr<footprint::BoundedGraph> graph = builder.Bound(choices);
//   // graph->bound_bytes() is a lower bound for every placement.
//
// It serves searches among choices (plan_search.h). Keeps the network, which
// its graphs share, and references to its other arguments, which must outlive
// it. Pure, thread-safe. Memory: that of a plan. Time: linear in the steps for
// a bound; that of planning (planner.h) for offsets.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_BOUNDED_PLAN_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_BOUNDED_PLAN_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/execution_steps.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

class PlanBuilder {
 public:
  // `options.micro_batches` must be the number of parts of the batch; `network`
  // has the shapes of one part.
  PlanBuilder(ResolvedNetwork network, const MathBackend& math,
              const MemoryOptions& options, int optimizer_states)
      : network_(std::make_shared<const ResolvedNetwork>(std::move(network))),
        math_(math),
        options_(options),
        optimizer_states_(optimizer_states) {}

  const ResolvedNetwork& network() const { return *network_; }
  const MemoryOptions& options() const { return options_; }
  const MathBackend& math() const { return math_; }

  // Returns the graph of the choices with its lower bound. Errors: those of
  // BuildSteps, AssignStorages and CheckRequests; OutOfRange if the bytes do
  // not fit 64 bits.
  absl::StatusOr<BoundedGraph> Bound(const StepChoices& choices) const;

  // Returns the plan of a graph of this builder. Errors: those of PlanMemory;
  // OutOfRange if the bytes do not fit 64 bits.
  absl::StatusOr<ExecutionPlan> Place(StorageGraph graph) const;

  // Returns the plan of the choices. Errors: those of BuildSteps,
  // AssignStorages and Place.
  absl::StatusOr<ExecutionPlan> Plan(const StepChoices& choices) const;

  // Swaps outputs in place of recomputing them if the recomputation would read
  // more bytes of frozen weights from their file than swapping writes and
  // reads. The plan then never needs more memory.
  void PreferSwaps(StepChoices* choices) const;

 private:
  absl::StatusOr<StorageGraph> BuildStorages(const StepChoices& choices) const;

  const std::shared_ptr<const ResolvedNetwork> network_;
  const MathBackend& math_;
  const MemoryOptions& options_;
  const int optimizer_states_;
};

// These return whether the options let steps calculate derivatives by slices,
// and whether they let outputs be absent between forward and backward steps.
bool MaySlice(const MemoryOptions& options);
bool MayDrop(const ResolvedNetwork& network, const MemoryOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_BOUNDED_PLAN_H_
