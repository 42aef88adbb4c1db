// Plans the new numbers of threshold files after a measurement: lower ones
// freely, higher ones on request and with a reason.
//
//   UpdateOptions options;
//   options.date = "2026-11-21";
//   UpdatePlan plan = PlanUpdate(profiles, sources, options);
//   // plan.changes[i] is for EditThresholds on the text of sources[i].
//
// An exact value becomes the measured value. A maximum that holds stays if its
// file has no headroom policy; with a policy it falls to the largest value that
// its selector names plus the headroom. A maximum that does not hold rises to
// the same number. A band (maximum and minimum) that holds stays; a band that
// does not hold keeps its width and is centred on the measured values. A ratio
// is a design decision: it is never tightened, and it is loosened under the
// same conditions as a maximum is raised. Every change has an entry for the
// history.
//
// A number stays, with a refusal, if it would rise without permission; if it
// would be loosened and its threshold also names benchmarks that the options
// leave out; if its limit would come down to a figure that is not EXACT; or if
// the measurement does not count, because its producer failed, it forked, it
// did not repeat, or fewer than three processes made it. Rules over samples are
// never updated. The profile of a producer does not say which of its benchmarks
// failed: then only rules that name one measured benchmark, without '*',
// change.
//
// After a plan with increases allowed is carried out, `Evaluate` accepts every
// measurement that a threshold names, if it repeats and the file may judge its
// profile.
//
// Pure functions, thread-safe; the plan owns its texts. Memory: linear in the
// thresholds. Time: that of `Evaluate`.

#ifndef FOOTPRINT_GATES_UPDATING_THRESHOLD_UPDATE_H_
#define FOOTPRINT_GATES_UPDATING_THRESHOLD_UPDATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/updating/threshold_edit.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct UpdateOptions {
  // Globs (selector.h). Thresholds of benchmarks that do not match stay as they
  // are.
  std::string label = "*";
  std::string benchmark = "*";
  bool allow_increase = false;
  std::string reason;  // for the history; empty: a default reason
  std::string date;    // of the history's entries: "2026-11-21"
  // The last day of entries that raise a limit; empty: they do not expire.
  std::string expires;
  // If set, replaces the headroom policy of each file.
  absl::optional<Headroom> headroom;
};

struct UpdatePlan {
  // The changes of each source.
  std::vector<std::vector<ThresholdChange>> changes;
  // The changes as lines for people: "t.textproto:12: //a:b BM_X peak live:
  // limit 10 B -> 8 B".
  std::vector<std::string> descriptions;
  // Increases that are not allowed, thresholds that no number can satisfy, and
  // measurements that do not count.
  std::vector<std::string> refusals;
};

// Returns the changes, refusals and their descriptions. Writes nothing.
UpdatePlan PlanUpdate(absl::Span<const MemoryProfile> profiles,
                      absl::Span<const ThresholdSource> sources,
                      const UpdateOptions& options);

// Returns why the options leave `threshold` out: it names no benchmark that
// they name, or also names others. Returns "" if they do not leave it out, as
// the default options never do.
std::string WhyLeftOut(const Threshold& threshold,
                       absl::Span<const MemoryProfile> profiles,
                       const UpdateOptions& options);

struct NewThresholds {
  std::vector<Threshold> thresholds;
  std::vector<std::string> refusals;  // measurements that do not count
};

// Returns thresholds for every benchmark that the options name and whose peak
// no threshold of `sources` for its environment limits (peak_limit.h). They
// limit "peak live" (or the sum of thread peaks if the peak did not repeat; or
// the resident set of a whole process) and mapped bytes. `file` is the file for
// them: an EXACT figure becomes an exact value if it has an environment; any
// other becomes a maximum with the headroom of the options, else of the file.
// If no headroom is given, the maximum is the figure. For a resident set it is
// a fifth of the program's own memory more, and at least 512 KiB more.
// Benchmarks that are exempt get no thresholds.
NewThresholds ThresholdsForNewBenchmarks(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options,
    const ThresholdFile& file);

// Returns thresholds for a file of the profiles' environment, with the values
// of the profiles that the options name. They are for measurements that
// thresholds of other environments judge and no threshold of the profile's own
// environment does. If several other environments judge a measurement, the
// nearest is the model. An exact value that names different values gives one
// threshold for each measurement. A maximum that holds keeps its number, and a
// band becomes one limit.
NewThresholds ThresholdsForEnvironment(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options);

// Parses a flag's value: "exact", "10%" or "4096". Returns kInvalidArgument,
// which lists these forms, for any other text.
absl::StatusOr<Headroom> ParseHeadroom(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_UPDATING_THRESHOLD_UPDATE_H_
