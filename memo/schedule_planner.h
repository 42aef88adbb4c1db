// When to load and when to evict each value, so that a run of cells that need
// them loads as little as possible.
//
//   ScheduleRequest request;
//   request.values = {{"small model", 200 << 20}, {"data", 100 << 20}};
//   request.cells = {{"first", {0, 1}}, {"second", {1}}};
//   absl::StatusOr<Schedule> schedule = PlanSchedule(request);
//   // Loads both values, runs "first", evicts the model, runs "second".
//
// A value is kept to its last planned use and not longer. Without a budget each
// value is loaded once. Under a budget a value is kept between two uses where
// that saves most loads; one that is not kept is evicted right after its use.
//
// Pure and deterministic: equal requests give equal schedules.
// Thread-safe. Memory: linear in the request, and at most some 20 MiB for the
// exact search. Time: at most 10 ms for 10,000 cells of two values in the given
// order; a request of at most 64 cells may be searched for up to a second.

#ifndef FOOTPRINT_MEMO_SCHEDULE_PLANNER_H_
#define FOOTPRINT_MEMO_SCHEDULE_PLANNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"

namespace footprint {

enum class SizeSource { kUnknown, kDeclared, kMeasured };

struct PlannedValue {
  std::string name;
  int64_t bytes = 0;  // 0 if unknown
  SizeSource source = SizeSource::kDeclared;
  // What a load costs compared with others; at least 1.
  int64_t load_cost = 1;
};

struct PlannedCell {
  std::string name;
  // Indices in `values`; may be empty. Cells of one arity are taken as a
  // product of axes: position i is axis i.
  std::vector<int> values;
};

struct ScheduleRequest {
  std::vector<PlannedValue> values;
  std::vector<PlannedCell> cells;
  // Of all values that are alive together.
  absl::optional<int64_t> budget_bytes;
  // Whether cells may run in another order than the given one.
  bool may_reorder = false;
};

enum class PlanMethod {
  // No value is loaded twice; nothing was left to choose.
  kKeepToLastUse,
  // Belady's rule, which is optimal where all values are of one size and cost.
  kBeladyOfEqualSizes,
  // Every choice was looked at, or shown not to be better.
  kExactSearch,
  // Belady's rule weighted by bytes: evicts what frees most for longest at the
  // least cost. Good, not proved optimal.
  kBeladyByBytes,
};
// "keep to last use", "Belady of equal sizes", "exact search", "Belady by
// bytes".
const char* PlanMethodName(PlanMethod method);

// First the loads, in this order; then the cell runs; then the evictions.
struct ScheduledStep {
  int cell = 0;
  std::vector<int> loads;
  std::vector<int> evictions;
};

struct Schedule {
  std::vector<ScheduledStep> steps;
  PlanMethod method = PlanMethod::kKeepToLastUse;
  // No schedule has a lower load cost: in the given order, or, where reordering
  // is allowed, in any order.
  bool is_optimal = false;
  // The cells run in another order than the given one.
  bool is_reordered = false;
  int64_t load_count = 0;
  int64_t load_cost = 0;
  // Most bytes alive together; without the values of unknown size.
  int64_t peak_bytes = 0;
  int64_t unknown_size_count = 0;
  // What the largest cell needs: no order and no eviction gets below.
  int64_t smallest_budget_bytes = 0;
};

// InvalidArgument for an index that is none, a negative size or budget, a cost
// below 1, or sums beyond 64 bits; FailedPrecondition, naming them, for values
// of unknown size under a budget; ResourceExhausted, naming the smallest budget
// that can, if a cell does not fit.
absl::StatusOr<Schedule> PlanSchedule(const ScheduleRequest& request);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_PLANNER_H_
