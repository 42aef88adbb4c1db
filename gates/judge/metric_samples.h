// Collects the values of one metric over runs of a program from sample files.
//
//   const MetricSamples samples =
//       CollectSamples(files, "//a:b", "BM_Fit", "", PEAK_RESIDENT_BYTES);
//   if (samples.values.empty()) ...  // there are no samples
//
// Pure function, thread-safe; the result owns copies. Memory: the values. Time:
// linear in the files.

#ifndef FOOTPRINT_GATES_JUDGE_METRIC_SAMPLES_H_
#define FOOTPRINT_GATES_JUDGE_METRIC_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct MetricSamples {
  std::vector<int64_t> values;  // one for each run, in the order of the files
  std::string kernel;
  std::string cpu_model;
  // Name of a field in which two of the files differ, so that their values do
  // not form one sample; empty if they agree.
  std::string difference;
};

// Returns the values in all files of the label. Skips files whose benchmarks
// all have other names.
MetricSamples CollectSamples(absl::Span<const MemorySamples> files,
                             absl::string_view label,
                             absl::string_view benchmark,
                             absl::string_view phase, MetricKind metric);

}  // namespace footprint

// Tested by rules_test.

#endif  // FOOTPRINT_GATES_JUDGE_METRIC_SAMPLES_H_
