// The requests to a planner and its answers: tensors with lifespans, their
// offsets, and a lower bound that anyone can check.
//
//   std::vector<footprint::TensorRequest> requests = {
//       {"activation", 0, 4, 1024}, {"gradient", 3, 6, 512}};
//   absl::Status status = footprint::CheckRequests(requests);
//
// Plain data; thread-compatible. A plan names each tensor by its index in the
// list of requests, so a plan can be read only together with its requests.
// Memory: a plan takes 8 bytes a request, and 8 for each tensor that proves the
// bound.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_PLAN_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

// A tensor that needs `size_bytes` from `lower_step` until just before
// `upper_step`. A tensor that ends at a step may share bytes with one that
// begins there.
struct TensorRequest {
  std::string id;
  int64_t lower_step = 0;
  int64_t upper_step = 0;
  int64_t size_bytes = 0;
  int64_t alignment_bytes = 1;  // a power of two; holds for the offset
};

enum class PlanMethod {
  kNaive,         // one after the other, nothing shared
  kFirstFit,      // by first step, each in the lowest gap that fits
  kGreedyBySize,  // largest first, each in the lowest gap that fits
  kHillClimb,     // first fit in an order that local search improves
  kExact,         // branch and bound over canonical plans
  kPortfolio,     // sweeps and greedy orders, then exact
};

// Returns "naive", "first_fit", "greedy_by_size", "hill_climb", "exact" or
// "portfolio".
absl::string_view PlanMethodName(PlanMethod method);

// Returns all methods in the order above.
absl::Span<const PlanMethod> AllPlanMethods();

// The reason why no plan can be lower than `bytes`.
struct LowerBound {
  enum class Kind {
    kLiveBytes,         // the tensors live at `step` have `bytes` in all
    kAlignedLiveBytes,  // the same, with padding for their alignment
    // every lower canonical plan was ruled out; the step and its tensors are
    // those with the most live bytes
    kExhaustiveSearch,
  };

  int64_t bytes = 0;
  Kind kind = Kind::kLiveBytes;
  int64_t step = 0;
  std::vector<size_t> tensors;  // live at `step`, ascending
};

struct MemoryPlan {
  std::vector<int64_t> offsets_bytes;  // one for each request
  int64_t height_bytes = 0;            // the arena that the plan needs
  LowerBound lower_bound;
  PlanMethod method = PlanMethod::kNaive;  // the method that found it
  // Nodes of the exact search and of the sweeps that alternate with it.
  int64_t search_nodes = 0;

  bool IsProvedMinimal() const { return height_bytes == lower_bound.bytes; }
};

// Returns InvalidArgument if a lifespan has no step, a size is below 1, or an
// alignment is not a power of two. Returns OutOfRange if the tensors side by
// side, each with its alignment less one in padding, would need more than 2^63
// - 1 bytes. The message names the tensor.
absl::Status CheckRequests(absl::Span<const TensorRequest> requests);

// Returns the id in quotation marks, or "#<index>" if it is empty.
std::string TensorName(absl::Span<const TensorRequest> requests, size_t index);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_PLAN_H_
