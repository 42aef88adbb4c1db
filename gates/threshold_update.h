// Which numbers of threshold files must change for what was measured: lower
// ones freely, higher ones on request and with a reason.
//
//   UpdateOptions options;
//   options.date = "2026-11-21";
//   UpdatePlan plan = PlanUpdate(profiles, sources, options);
//   // plan.changes[i] is for EditThresholds on the text of sources[i].
//
// A maximum comes down to the largest value that its selector names, an exact
// value to the value. A band (maximum and minimum) that holds stays; one that
// does not keeps its width and is centred on what was measured. A ratio is a
// statement of design: it is never tightened, and loosened as a maximum is
// raised.
//
// After the plan is carried out with increases allowed, `Evaluate` accepts
// every measurement that a threshold names, if it repeats and its profile is
// one that the file may judge.
//
// Pure functions, thread-safe; the plan owns its texts. Memory: linear in the
// thresholds. Time: as `Evaluate`.

#ifndef FOOTPRINT_GATES_THRESHOLD_UPDATE_H_
#define FOOTPRINT_GATES_THRESHOLD_UPDATE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "footprint/gates/gate.pb.h"
#include "footprint/gates/threshold_edit.h"
#include "footprint/gates/threshold_file.h"
#include "footprint/profiling/memory_profile.pb.h"

namespace footprint {

struct UpdateOptions {
  // Globs; what does not match is left as it is.
  std::string label = "*";
  std::string benchmark = "*";
  bool allow_increase = false;
  std::string reason;  // of increases, for the history
  std::string date;    // of the history's entries: "2026-11-21"
};

struct UpdatePlan {
  // By source.
  std::vector<std::vector<ThresholdChange>> changes;
  // What changes, for people: "t.textproto:12: //a:b ...: max 10 B -> 8 B".
  std::vector<std::string> descriptions;
  // Increases that are not allowed, and thresholds that no number can satisfy.
  std::vector<std::string> refusals;
};

UpdatePlan PlanUpdate(absl::Span<const MemoryProfile> profiles,
                      absl::Span<const ThresholdSource> sources,
                      const UpdateOptions& options);

// Thresholds of the metric "peak live" (of a benchmark whose peak did not
// repeat, of the sum of its threads' peaks) for every benchmark that the
// options name and no threshold of `sources` does: exact values if `is_exact`,
// else maxima.
std::vector<Threshold> ThresholdsForNewBenchmarks(
    absl::Span<const MemoryProfile> profiles,
    absl::Span<const ThresholdSource> sources, const UpdateOptions& options,
    bool is_exact);

// The thresholds of `model` for the profiles that the options name, with the
// values of these: for a file of their environment. Where one threshold of the
// model named several values, one for each benchmark.
std::vector<Threshold> ThresholdsForEnvironment(
    absl::Span<const MemoryProfile> profiles, const ThresholdSource& model,
    const UpdateOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_THRESHOLD_UPDATE_H_
