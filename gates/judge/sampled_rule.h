// Rules over samples: a budget that a share of all runs keeps, and no growth
// over a baseline.
//
//   const MetricSamples samples =
//       CollectSamples(files, "//a:b", "BM_Fit", "", PEAK_RESIDENT_BYTES);
//   for (const RuledFigure& figure : JudgeSamples(threshold, samples)) ...
//
// Pure functions, thread-safe; results own copies. Memory: the values. Time:
// as gates/statistics.

#ifndef FOOTPRINT_GATES_JUDGE_SAMPLED_RULE_H_
#define FOOTPRINT_GATES_JUDGE_SAMPLED_RULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/ruled_figure.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct MetricSamples {
  std::vector<int64_t> values;  // one a run, in the order of the files
  std::string kernel;
  std::string cpu_model;
  // In which two of the files differ, so that their values are no one sample;
  // empty: in nothing.
  std::string difference;
};

// Of all files of the label.
MetricSamples CollectSamples(absl::Span<const MemorySamples> files,
                             absl::string_view label,
                             absl::string_view benchmark,
                             absl::string_view phase, MetricKind metric);

// Whether the threshold has a rule over samples.
bool IsSampled(const Threshold& threshold);

// One figure for the budget and one for the regression, as the threshold has
// them. Samples without a value are inconclusive.
std::vector<RuledFigure> JudgeSamples(const Threshold& threshold,
                                      const MetricSamples& samples);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_SAMPLED_RULE_H_
