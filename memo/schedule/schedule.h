// A request for a plan, and a plan: which values to load before each cell, and
// which to evict after it. PlanSchedule (schedule_planner.h) makes the plan of
// the request.
//
//   ScheduleRequest request;
//   request.values = {{"model", /*bytes=*/600}, {"data", /*bytes=*/200}};
//   request.cells = {{"BM_Predict/model/data", {0, 1}}};
//   const Schedule schedule = PlanSchedule(request).value();
//
// Plain data, owned by its holder; thread-compatible. Steps name cells and
// values by their indices in the request. Memory: a plan takes 56 bytes per
// cell, and 4 per load and per eviction.

#ifndef FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_H_
#define FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"

namespace footprint {

// kGuessed: the size of a file, or measured in doubt.
enum class SizeSource { kUnknown, kDeclared, kMeasured, kGuessed };

struct PlannedValue {
  std::string name;
  int64_t bytes = 0;  // 0 if `source` is kUnknown
  SizeSource source = SizeSource::kDeclared;
  // Cost of a load relative to other loads; at least 1.
  int64_t load_cost = 1;
  // Peak bytes of the load, with the value. If less than `bytes`, `bytes`
  // count.
  int64_t load_peak_bytes = 0;

  // Returns the bytes that are needed only while the value loads.
  int64_t passing_bytes() const {
    return load_peak_bytes > bytes ? load_peak_bytes - bytes : 0;
  }
};

struct PlannedCell {
  std::string name;
  // Indices in `values`; may be empty. Cells of one arity are treated as a
  // product of axes: position i is axis i.
  std::vector<int> values;
};

struct ScheduleRequest {
  std::vector<PlannedValue> values;
  std::vector<PlannedCell> cells;
  // The most bytes that all values alive together may have, also during loads;
  // not set: there is no limit.
  absl::optional<int64_t> budget_bytes;
  // True if cells may run in another order than the given one.
  bool may_reorder = false;
};

enum class ScheduleMethod {
  // No value is loaded twice, so there was nothing to choose.
  kKeepToLastUse,
  // Belady's rule, which is optimal if all values have one size and one cost.
  kBeladyOfEqualSizes,
  // Every choice was tried, or proved not to be better. A plan with a load that
  // needs more than its value never has this method, since the best place of
  // such a load may be earlier than the search tries.
  kExactSearch,
  // Belady's rule weighted by bytes: evicts the value that frees the most bytes
  // for the longest time at the least cost. Good, but not proved optimal.
  kBeladyByBytes,
};
// Returns "keep to last use", "Belady of equal sizes", "exact search" or
// "Belady by bytes".
const char* ScheduleMethodName(ScheduleMethod method);

// One step: first the loads, in this order; then the cell; then the evictions.
struct ScheduledStep {
  int cell = 0;
  std::vector<int> loads;
  std::vector<int> evictions;
};

struct Schedule {
  std::vector<ScheduledStep> steps;
  ScheduleMethod method = ScheduleMethod::kKeepToLastUse;
  // True if it is proved that no schedule has a lower load cost: in the given
  // order, or in any order if cells may be reordered.
  bool is_optimal = false;
  // True if the cells run in another order than the given one.
  bool is_reordered = false;
  // Loads of all steps, and the sum of their costs.
  int64_t load_count = 0;
  int64_t load_cost = 0;
  // A proved bound: no schedule of these cells has a lower load cost, in the
  // given order, or in any order if cells may be reordered.
  int64_t least_load_cost = 0;
  // Peak bytes, without the values of unknown size.
  int64_t peak_bytes = 0;
  int64_t unknown_size_count = 0;
  // Bytes that the largest cell needs to load and hold its values. No schedule
  // needs less.
  int64_t smallest_budget_bytes = 0;
};

// Returns the peak bytes of the steps, with the loads in their order.
int64_t PeakBytes(const ScheduleRequest& request, const Schedule& schedule);

// Returns the largest number of values that are alive together.
int64_t PeakCount(const Schedule& schedule);

// Sorts the loads of one step so that they need the fewest bytes: the value
// with the most passing bytes is loaded first, when the fewest bytes are alive.
void SortLoads(const ScheduleRequest& request, std::vector<int>* loads);

// Returns by how much the peak of these loads exceeds the bytes of their
// values; 0 if no value has passing bytes.
int64_t PassingBytes(const ScheduleRequest& request,
                     const std::vector<int>& sorted_loads);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_H_
