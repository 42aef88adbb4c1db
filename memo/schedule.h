// What is to be planned, and a plan: which values to load before each cell, and
// which to evict after it. PlanSchedule (schedule_planner.h) makes one of the
// other.
//
// Plain data, owned by whoever holds it.

#ifndef FOOTPRINT_MEMO_SCHEDULE_H_
#define FOOTPRINT_MEMO_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

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

enum class ScheduleMethod {
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
const char* ScheduleMethodName(ScheduleMethod method);

// First the loads, in this order; then the cell runs; then the evictions.
struct ScheduledStep {
  int cell = 0;
  std::vector<int> loads;
  std::vector<int> evictions;
};

struct Schedule {
  std::vector<ScheduledStep> steps;
  ScheduleMethod method = ScheduleMethod::kKeepToLastUse;
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

// What the steps have alive together at most.
int64_t PeakBytes(const ScheduleRequest& request, const Schedule& schedule);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_H_
