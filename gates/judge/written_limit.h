// Parses limits as people write them: the fields `max` and `min` of a
// threshold.
//
//   max: "24 MB"            // 24,000,000 bytes
//   max: "21.8 MB + 10 %"   // a measured figure, and a tenth more
//   max: "+ 2 MiB"          // 2 MiB above a figure that is not measured yet
//   max: "1000"             // bytes, or calls if the metric counts calls
//
// ParseThresholdFile sets the number that a text means (`max_bytes`,
// `max_count` ...), so that all other code reads only numbers. The update
// command writes a new text in the same unit.
//
// Units: B, kB, MB, GB, TB, KiB, MiB, GiB and TiB. Pure functions, thread-safe.
// Memory: the texts of the results. Errors are kInvalidArgument, or mistakes
// with the field's name, and say what the field may contain.

#ifndef FOOTPRINT_GATES_JUDGE_WRITTEN_LIMIT_H_
#define FOOTPRINT_GATES_JUDGE_WRITTEN_LIMIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/rule.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct WrittenLimit {
  // The number before the distance. It has no value in "+ 10 %", until the
  // update command writes it.
  absl::optional<int64_t> figure;
  Headroom above;  // not set in "24 MB"

  // Returns the number that the limit means; 0 if the figure is missing,
  // whatever the distance.
  int64_t ComputeNumber(MetricKind metric) const;
};

// Parses the text of `max`. Returns kInvalidArgument if it is malformed, or its
// unit is not that of the metric.
absl::StatusOr<WrittenLimit> ParseWrittenLimit(absl::string_view text,
                                               MetricKind metric);

// Sets the number fields that `max` and `min` of the threshold mean. Returns
// the mistakes in the two; a field with a mistake is not set. Does nothing if
// the metric is unknown.
std::vector<RuleMistake> ResolveWrittenLimits(Threshold* threshold);

// Returns whether the threshold's maximum is a distance alone, "+ 10 %", so
// that the update command has to write the figure before the threshold can
// judge.
bool AwaitsFigure(const Threshold& threshold);

// Returns `written` with a new figure in the same unit, with at least as many
// digits, rounded up; without a unit if that would be 2^63 or more. `measured`
// replaces a figure before a "+", and `wanted` replaces a figure that stands
// alone.
std::string RewriteMaximum(absl::string_view written, MetricKind metric,
                           int64_t measured, int64_t wanted);

// Does the same for a minimum, which is rounded down.
std::string RewriteMinimum(absl::string_view written, MetricKind metric,
                           int64_t wanted);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_WRITTEN_LIMIT_H_
