// Plans memory: takes tensors with lifespans, and gives each an offset in one
// arena.
//
//   absl::StatusOr<footprint::MemoryPlan> plan =
//       footprint::PlanMemory({{"activation", 0, 4, 1024},
//                              {"gradient", 3, 6, 512}});
//   // plan->offsets_bytes, plan->height_bytes, plan->lower_bound.bytes
//
// Every plan passes the independent validator before it is returned. Equal
// requests and options give equal plans, unless a time limit cuts the search
// short. Keeps nothing and reads no global state: thread-safe. Memory: about
// 130 bytes a tensor. The exact search adds up to 640 KiB, 600 bytes a tensor,
// and less than 100 bytes for each step of each tensor's life at which
// something begins or ends. Sweeps with many plans side by side add up to 4 KiB
// a tensor and about 40 KiB for each tensor live at once. Time: the portfolio
// takes O(n log n) if outward sweeps meet the bound, as on nearly every
// training graph, and O(n^2) if first fit does; otherwise it runs until its
// limits.

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
    // The lowest plan that the method finds within its limits. It does not
    // depend on the capacity, which only decides whether the plan is accepted.
    kMinimum,
    // The first plan that fits the capacity; the search stops there.
    kFitCapacity,
  };

  PlanMethod method = PlanMethod::kPortfolio;
  int64_t capacity_bytes = std::numeric_limits<int64_t>::max();
  Goal goal = Goal::kMinimum;
  // The least alignment of every offset, a power of two.
  int64_t alignment_bytes = 1;
  // The most nodes of the exact search and of the sweeps that alternate with
  // it; about a second's worth. A search that this limit ends is deterministic.
  // One that the time limit ends returns the best plan so far.
  int64_t node_limit = 1'000'000;
  absl::Duration time_limit = absl::InfiniteDuration();
  int64_t trial_limit = 500;  // of the hill climb
};

// Returns a plan. Returns the errors of CheckRequests, and InvalidArgument also
// if the capacity is negative or the alignment is not a power of two.
// Returns ResourceExhausted if no plan within the capacity was found; the
// message says whether it was proved that there is none. Returns Internal if
// the plan failed validation, which is a defect of this library.
absl::StatusOr<MemoryPlan> PlanMemory(absl::Span<const TensorRequest> requests,
                                      const PlanOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_PLANNER_H_
