// A local search for choices whose plan is bounded lower: what to slice, drop,
// forget and swap.
//
//   ChoiceDescent descent(builder, /*may_swap=*/false);
//   status = descent.Run(start, [&](const BoundedChoices& lower) { ... });
//
// From each start, one choice at a time is changed that the certificate's step
// has to do with, the one that lowers the bound most; where several steps need
// as much, the one that leaves fewest bytes near the bound. Where none is left,
// choices drawn from a fixed seed are changed, and it descends again from
// there. The starts are the given one and those that keep nothing, or every
// k-th output. The choices on its way do not depend on the budget. In a network
// so large that its changes cannot all be looked at, the starts are bounded
// first, also with all swapped that they keep, it descends from the lowest, and
// of each point's changes some are drawn.
//
// Refers to its arguments. Thread-compatible. Memory: a plan or two. Time: at
// most a fixed number of steps in all plans that it bounds.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_DESCENT_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_DESCENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/execution/bounded_plan.h"
#include "footprint/trainer_manager/execution/execution_steps.h"
#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// Choices, and the bound of their plan.
struct BoundedChoices {
  StepChoices choices;
  int64_t bound_bytes = 0;
};

class ChoiceDescent {
 public:
  // Called with whatever is bounded lower than all before; true ends the
  // search.
  using Visit = std::function<absl::StatusOr<bool>(const BoundedChoices&)>;

  ChoiceDescent(const PlanBuilder& builder, bool may_swap);

  // Errors: those of PlanBuilder::Bound and of `visit`.
  absl::Status Run(const BoundedChoices& start, const Visit& visit);

 private:
  // A plan's figures: less is better, in this order; then the outputs and the
  // layer that its certificate has to do with.
  struct Point {
    StepChoices choices;
    int64_t bound_bytes = 0;
    int64_t bytes_near_bound = 0;  // over all steps
    std::vector<size_t> outputs;   // of layers
    size_t layer = 0;              // whose step it is

    bool IsBelow(const Point& other) const {
      return bound_bytes < other.bound_bytes ||
             (bound_bytes == other.bound_bytes &&
              bytes_near_bound < other.bytes_near_bound);
    }
  };

  absl::StatusOr<Point> Evaluate(StepChoices choices);
  absl::Status StartLarge(Point first, const Visit& visit);
  absl::Status Restart(const Visit& visit);
  absl::Status Descend(Point point, const Visit& visit);
  absl::Status Offer(const Point& point, const Visit& visit);
  std::vector<StepChoices> Neighbours(const Point& point);
  void ChangeLayer(const StepChoices& from, size_t layer,
                   std::vector<StepChoices>* neighbours) const;
  void ChangeSlices(const StepChoices& from, size_t layer,
                    std::vector<StepChoices>* neighbours) const;
  std::vector<StepChoices> Starts(const StepChoices& start) const;
  bool IsOver() const;

  const PlanBuilder& builder_;
  const ResolvedNetwork& network_;
  const bool may_swap_;
  std::vector<size_t> droppable_;  // layers
  std::vector<size_t> sliceable_;
  RandomSequence random_;
  ResolvedNetwork spare_network_;
  int64_t steps_left_;
  bool is_large_ = false;
  bool is_found_ = false;
  Point lowest_;
};

}  // namespace footprint

// Tested by plan_search_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_DESCENT_H_
