// Limits as people write them: the fields `max` and `min` of a threshold.
//
//   max: "24 MB"            // 24,000,000 bytes
//   max: "21.8 MB + 10 %"   // a figure that was measured, and a tenth more
//   max: "+ 2 MiB"          // 2 MiB above a figure that is not measured yet
//   max: "1000"             // bytes, or calls of a metric that counts calls
//
// The reader of threshold files sets the number that a text means (`max_bytes`,
// `max_count` ...) beside it, so that all other code reads only numbers. The
// update command writes a new text in the same unit.
//
// Units: B, kB, MB, GB, TB, KiB, MiB, GiB and TiB. Pure functions, thread-safe.
// Memory: the texts of the results. Errors are kInvalidArgument, or mistakes
// with the field's name, and say what may stand there.

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
  // The number before the distance. It is not set in "+ 10 %", where the update
  // command has yet to write it.
  absl::optional<int64_t> figure;
  Headroom above;  // nothing is set in "24 MB"

  // Returns the number that the limit means; a missing figure counts as zero.
  int64_t ComputeNumber(MetricKind metric) const;
};

absl::StatusOr<WrittenLimit> ParseWrittenLimit(absl::string_view text,
                                               MetricKind metric);

// Sets the numbers that `max` and `min` of the threshold mean. Returns the
// mistakes in them; if there is one, the numbers are not set.
std::vector<RuleMistake> ResolveWrittenLimits(Threshold* threshold);

// Returns whether the threshold's maximum is a distance alone, "+ 10 %", so
// that the update command has to write the figure before it can judge.
bool AwaitsFigure(const Threshold& threshold);

// Returns `written` with new figures: in the same unit, with at least as many
// digits, rounded up. `measured` replaces a figure in front of a "+", and
// `wanted` a figure that stands alone.
std::string RewriteMaximum(absl::string_view written, MetricKind metric,
                           int64_t measured, int64_t wanted);

// Returns the same of a minimum, which is rounded down.
std::string RewriteMinimum(absl::string_view written, MetricKind metric,
                           int64_t wanted);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_WRITTEN_LIMIT_H_
