// Searches locally for choices of what to slice, drop, forget and swap that
// make the lower bound of the plan smaller.
//
//   ChoiceDescent descent(builder, /*may_swap=*/false);
//   status = descent.Run(start, [&](const BoundedChoices& lower) { ... });
//
// From each start, the search changes one choice at a time among those that
// affect the certificate's step. It takes the change that lowers the bound most
// or, if several steps need equally much, the one that leaves the fewest bytes
// near the bound. When no change helps, it changes some choices drawn from a
// fixed seed and descends again. The starts are the given choices, and those
// that keep no output or every k-th one. The path does not depend on the
// budget. In a network too large to try all its changes, the search first
// bounds all starts and, if it may swap, the same starts with each kept output
// swapped. It descends from the lowest of these, and at each point it tries
// only some changes drawn at random.
//
// Refers to its arguments. Thread-compatible. Memory: a plan or two. Time:
// limited by a fixed number of steps, summed over all plans that an object
// bounds.

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

// Choices, and the lower bound of their plan.
struct BoundedChoices {
  StepChoices choices;
  int64_t bound_bytes = 0;
};

class ChoiceDescent {
 public:
  // A function that Run calls with each point whose bound is smaller than all
  // before. Returns true to end the search.
  using Visit = std::function<absl::StatusOr<bool>(const BoundedChoices&)>;

  ChoiceDescent(const PlanBuilder& builder, bool may_swap);

  // Runs the search, which ends at once if MayDrop is false. Errors: those of
  // PlanBuilder::Bound and of `visit`.
  absl::Status Run(const BoundedChoices& start, const Visit& visit);

 private:
  // The choices of a plan, its figures, and the outputs and the layer that
  // affect its certificate. Lower figures are better; `bytes_near_bound`
  // decides between equal bounds.
  struct Point {
    StepChoices choices;
    int64_t bound_bytes = 0;
    int64_t bytes_near_bound = 0;  // summed over all steps
    std::vector<size_t> outputs;   // indices of layers
    size_t layer = 0;              // the layer of the certificate's step

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
  int64_t steps_left_;
  bool is_large_ = false;
  bool is_found_ = false;
  Point lowest_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_DESCENT_H_
