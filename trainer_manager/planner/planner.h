// Plans memory: takes tensors with lifespans, and gives each an offset in one
// arena.
//
//   absl::StatusOr<footprint::MemoryPlan> plan =
//       footprint::PlanMemory({{"activation", 0, 4, 1024},
//                              {"gradient", 3, 6, 512}});
//   // plan->offsets_bytes, plan->height_bytes, plan->lower_bound.bytes
//
// Every plan passes the independent validator before it is returned. The same
// requests and options give the same plan, unless a time limit cuts the search
// short. Keeps nothing, reads no global state: thread-safe.
// Memory: about 130 bytes a tensor; when the exact search begins, up to 640
// KiB, 600 bytes a tensor, and less than 100 bytes for each step of each
// tensor's life at which something begins or ends; when the portfolio sweeps
// with many plans side by side, up to 4 KiB a tensor and 25 KiB a tensor live
// at once. Time: the portfolio takes O(n log n) where outward sweeps meet the
// bound, as they do on nearly every training graph, O(n^2) where first fit
// does, else as long as the limits let it.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_PLANNER_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_PLANNER_H_

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

struct PlanOptions {
  enum class Goal {
    // The lowest plan that the limits let the method find: the same whatever
    // the capacity, which only decides whether it is an answer.
    kMinimum,
    // The first plan that fits the capacity; nothing else is looked for.
    kFitCapacity,
  };

  PlanMethod method = PlanMethod::kPortfolio;
  int64_t capacity_bytes = std::numeric_limits<int64_t>::max();
  Goal goal = Goal::kMinimum;
  // Every offset is at least so aligned; a power of two.
  int64_t alignment_bytes = 1;
  // The most nodes of the exact search and of the sweeps that take turns with
  // it; about a second's worth. The answer within this limit is deterministic;
  // within the time limit it is the best so far.
  int64_t node_limit = 1'000'000;
  absl::Duration time_limit = absl::InfiniteDuration();
  int64_t trial_limit = 500;  // of the hill climb
};

// InvalidArgument and OutOfRange: see CheckRequests; InvalidArgument also when
// capacity or alignment make no sense. ResourceExhausted: no plan within the
// capacity; the text tells whether none exists. Internal: the plan failed
// validation, a defect of this library.
absl::StatusOr<MemoryPlan> PlanMemory(absl::Span<const TensorRequest> requests,
                                      const PlanOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_PLANNER_H_
