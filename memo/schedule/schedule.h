// A request for a plan, and a plan: which values to load before each cell, and
// which to evict after it. PlanSchedule (schedule_planner.h) makes the plan of
// the request.
//
//   ScheduleRequest request;
//   request.values = {{"model", /*bytes=*/600}, {"data", /*bytes=*/200}};
//   request.cells = {{"BM_Predict/model/data", {0, 1}}};
//   const Schedule schedule = PlanSchedule(request).value();
//
// Plain data, owned by whoever holds it; thread-compatible. Steps are indices
// of the request's cells and values. Memory: of a plan, 56 bytes a cell and 4
// for each load and each eviction.

#ifndef FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_H_
#define FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"

namespace footprint {

// Guessed: from the size of a file, or measured in doubt.
enum class SizeSource { kUnknown, kDeclared, kMeasured, kGuessed };

struct PlannedValue {
  std::string name;
  int64_t bytes = 0;  // 0 if unknown
  SizeSource source = SizeSource::kDeclared;
  // Cost of a load compared with others; at least 1.
  int64_t load_cost = 1;
  // Bytes needed while it loads, itself included; if below `bytes`, those.
  int64_t load_peak_bytes = 0;

  // Needed while it loads, and free again afterwards.
  int64_t passing_bytes() const {
    return load_peak_bytes > bytes ? load_peak_bytes - bytes : 0;
  }
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
  // The most bytes that all values alive together may have, at any moment of a
  // load, too.
  absl::optional<int64_t> budget_bytes;
  // Whether cells may run in another order than the given one.
  bool may_reorder = false;
};

enum class ScheduleMethod {
  // No value is loaded twice; nothing was left to choose.
  kKeepToLastUse,
  // Belady's rule, which is optimal where all values are of one size and cost.
  kBeladyOfEqualSizes,
  // Every choice was looked at, or shown not to be better. Not where a load
  // needs more than its value: it may come too early for the search.
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
  // A bound that is proved: no schedule of these cells has a lower load cost,
  // in the given order or, where reordering is allowed, in any order.
  int64_t least_load_cost = 0;
  // Most bytes alive together; without the values of unknown size.
  int64_t peak_bytes = 0;
  int64_t unknown_size_count = 0;
  // Bytes that the largest cell needs for its values and to load them: no order
  // and no eviction gets below.
  int64_t smallest_budget_bytes = 0;
};

// Most bytes that the steps have alive together, loads in their order included.
int64_t PeakBytes(const ScheduleRequest& request, const Schedule& schedule);

// Returns how many values the steps have alive together at most.
int64_t PeakCount(const Schedule& schedule);

// Puts the loads of one step into the order that needs least: the value with
// most passing bytes goes first, when least is there.
void SortLoads(const ScheduleRequest& request, std::vector<int>* loads);

// Bytes that sorted loads need at one time, less those that they leave: 0 where
// none pass.
int64_t PassingBytes(const ScheduleRequest& request,
                     const std::vector<int>& sorted_loads);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_H_
