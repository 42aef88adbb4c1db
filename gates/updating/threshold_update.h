// Plans the new numbers of threshold files after a measurement: lower ones
// freely, higher ones on request and with a reason.
//
//   UpdateOptions options;
//   options.date = "2026-11-21";
//   UpdatePlan plan = PlanUpdate(profiles, sources, options);
//   // plan.changes[i] is for EditThresholds on the text of sources[i].
//
// An exact value becomes the value. A maximum that holds stays where its file
// has no headroom policy; with one it comes down to the largest value that its
// selector names and the headroom above it. One that does not hold rises to the
// same. A band (maximum and minimum) that holds stays; one that does not keeps
// its width and is centred on what was measured. A ratio is a statement of
// design: it is never tightened, and loosened as a maximum is raised. Every
// change has an entry for the history.
//
// Left as it is, with a refusal: what would rise and may not; a threshold that
// also names what the options leave out, if it would be loosened; and whatever
// would follow from a measurement that does not count, since its producer
// failed, it forked, it did not repeat, or fewer than three processes made it.
// A producer some of whose benchmarks failed does not say which: it moves only
// a rule that names one measured benchmark, without '*'.
//
// After the plan is carried out with increases allowed, `Evaluate` accepts
// every measurement that a threshold names, if it repeats and its profile is
// one that the file may judge.
//
// Pure functions, thread-safe; the plan owns its texts. Memory: linear in the
// thresholds. Time: as `Evaluate`.

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
  // Globs; what does not match is left as it is.
  std::string label = "*";
  std::string benchmark = "*";
  bool allow_increase = false;
  std::string reason;  // for the history; empty: that it was measured
  std::string date;    // of the history's entries: "2026-11-21"
  // The last day of entries that raise a limit; empty: they hold for good.
  std::string expires;
  // The headroom in place of each file's own policy.
  absl::optional<Headroom> headroom;
};

struct UpdatePlan {
  // The changes of each source.
  std::vector<std::vector<ThresholdChange>> changes;
  // Changes, for people: "t.textproto:12: //a:b ...: max 10 B -> 8 B".
  std::vector<std::string> descriptions;
  // Increases that are not allowed, thresholds that no number can satisfy, and
  // measurements that do not count.
  std::vector<std::string> refusals;
};

UpdatePlan PlanUpdate(absl::Span<const MemoryProfile> profiles,
                      absl::Span<const ThresholdSource> sources,
                      const UpdateOptions& options);

// Returns why the options leave `threshold` out, or "": it names nothing that
// they name, or also something else. With the default options nothing is left
// out.
std::string WhyLeftOut(const Threshold& threshold,
                       absl::Span<const MemoryProfile> profiles,
                       const UpdateOptions& options);

struct NewThresholds {
  std::vector<Threshold> thresholds;
  std::vector<std::string> refusals;  // measurements that do not count
};

// Thresholds for every benchmark that the options name, and whose peak no
// threshold of `sources` for its environment limits (peak_limit.h): of the
// metric "peak live" (of a benchmark whose peak did not repeat, of the sum of
// its threads' peaks; of a whole process, of its resident set), and of what it
// maps. They are as `file`, where they are to be put, has them: exact values if
// it has an environment, else maxima with its headroom.
NewThresholds ThresholdsForNewBenchmarks(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options,
    const ThresholdFile& file);

// Thresholds for a file of the profiles' environment, with the values of the
// profiles that the options name: for measurements that thresholds of other
// environments judge there, and no threshold of the profile's own environment
// judges. A threshold that named several values gives one for each benchmark.
// Plans thresholds by those of the nearest of several environments.
NewThresholds ThresholdsForEnvironment(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options);

// "exact", "10%" or "4096", as of a flag. kInvalidArgument names these.
absl::StatusOr<Headroom> ParseHeadroom(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_UPDATING_THRESHOLD_UPDATE_H_
