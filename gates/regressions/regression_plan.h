// Plans which regressions to plant, and where, so that each makes a judged
// figure exceed its threshold.
//
//   for (const JudgedFigure& figure : JudgedFigures(verdict)) {
//     absl::optional<PlannedRegression> planned = PlanRegression(
//         RegressionSort::kOneMoreByte, figure, benchmark, record, &random);
//   }
//
// The expected growth follows from the record of the program's own calls, not
// from a measurement. The selftest then shows whether a measurement finds it.
//
// Thread-safe, except that PlanRegression draws numbers from `random`;
// otherwise the functions are pure. Results own copies. Memory: linear in the
// figures. Time: linear in the record's blocks.

#ifndef FOOTPRINT_GATES_REGRESSIONS_REGRESSION_PLAN_H_
#define FOOTPRINT_GATES_REGRESSIONS_REGRESSION_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/regressions/allocation_record.h"
#include "footprint/profiling/regressions/planted_regression.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// A mistake, named as a person would name it.
enum class RegressionSort {
  kOneMoreByte,
  kSmallBlock,
  kFreedLater,
  kKeptCopy,
  kLeakPerStep,
  kLargerElement,
  kGrowthWithArgument,
  kOtherStage,
  kMoreVolume,
  kMoreMapping,
};
inline constexpr size_t kRegressionSortCount = 10;

struct RegressionSortName {
  RegressionSort sort;
  const char* name;  // of at most 24 characters
};
inline constexpr std::array<RegressionSortName, kRegressionSortCount>
    kRegressionSorts = {{
        {RegressionSort::kOneMoreByte, "a block a byte larger"},
        {RegressionSort::kSmallBlock, "one more block"},
        {RegressionSort::kFreedLater, "a block freed later"},
        {RegressionSort::kKeptCopy, "a copy kept"},
        {RegressionSort::kLeakPerStep, "a leak each step"},
        {RegressionSort::kLargerElement, "elements twice as large"},
        {RegressionSort::kGrowthWithArgument, "growth with an argument"},
        {RegressionSort::kOtherStage, "held through a stage"},
        {RegressionSort::kMoreVolume, "more calls and volume"},
        {RegressionSort::kMoreMapping, "more mapped"},
    }};

// An EXACT figure that at least one blocking upper limit accepts.
struct JudgedFigure {
  std::string label;
  std::string benchmark;
  std::string phase;  // empty: all that is measured
  MetricKind metric = METRIC_KIND_UNSPECIFIED;
  int64_t measured = 0;
  // Bytes or calls that it may grow before the tightest limit rejects; 0 for an
  // exact value.
  int64_t room = 0;
};

// Returns the figures in the verdict's order, each once.
std::vector<JudgedFigure> JudgedFigures(const Verdict& verdict);

struct PlannedRegression {
  RegressionSort sort = RegressionSort::kOneMoreByte;
  JudgedFigure figure;
  PlantedRegression planted;  // without a record path
  // The least growth of the figure that the regression must cause.
  int64_t expected_growth = 0;
};

// Returns nullopt if the program has no place for the regression: no block is
// alive at the peak, there is no argument, or the sort does not change the
// metric. `benchmark` is the earlier measurement.
absl::optional<PlannedRegression> PlanRegression(
    RegressionSort sort, const JudgedFigure& figure,
    const BenchmarkMemory& benchmark, const AllocationRecord& record,
    RandomSequence* random);

// Returns the usable bytes that jemalloc hands out for a request, by its size
// classes.
int64_t UsableBytes(int64_t requested_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REGRESSIONS_REGRESSION_PLAN_H_
