// Groups measurements by phase, so that each group can show how bytes grow.
//
//   for (const MeasuredFamily& family : CollectFamilies(index, members)) ...
//
// Pure function, thread-safe; the result owns copies, except that it points to
// the metrics. Memory and time: linear in the members.

#ifndef FOOTPRINT_GATES_JUDGE_MEASURED_FAMILIES_H_
#define FOOTPRINT_GATES_JUDGE_MEASURED_FAMILIES_H_

#include <vector>

#include "footprint/gates/judge/law_judgement.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct MeasuredFamily {
  Measurement largest;              // stands for the family in a verdict
  Determinism determinism = EXACT;  // the weakest of its members
  std::vector<MeasuredSize> sizes;
};

// Returns one family for each phase, in the order of their names. Each member
// must have a metric.
std::vector<MeasuredFamily> CollectFamilies(
    const MeasurementIndex& index, const std::vector<Measurement>& members);

}  // namespace footprint

// Tested by evaluate_figures_test.

#endif  // FOOTPRINT_GATES_JUDGE_MEASURED_FAMILIES_H_
