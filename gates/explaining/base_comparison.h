// Judges a change by its base: says which figures are new, gone, grown or
// shrunk, and which of them grew beyond a limit.
//
//   BaseComparisonOptions options;
//   options.limits = {*ParseGrowthLimit("1 %")};
//   absl::StatusOr<BaseComparison> comparison =
//       CompareWithBase(base, change, options);
//   if (!comparison.ok()) return comparison.status();
//   return comparison->verdict.decision();
//
// Limits judge figures of whole benchmarks: the peak of the heap, of mapped
// bytes and of a whole process, and net growth, which is what a benchmark
// leaves behind. Phases and lines are not judged: they are the reasons. Figures
// that are not EXACT vary from run to run, so a change of at most 5 % or 256
// KiB, whichever is more, counts as none.
//
// Pure functions, thread-safe; the result owns its texts. Memory: that of
// DiffProfiles, and a copy of the profiles. Time: n log n in the metrics.

#ifndef FOOTPRINT_GATES_EXPLAINING_BASE_COMPARISON_H_
#define FOOTPRINT_GATES_EXPLAINING_BASE_COMPARISON_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/gates/explaining/profile_diff.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// A limit: how far the figures of the labels that match a glob may grow.
struct GrowthLimit {
  std::string label = "*";
  Headroom above;
};

// Reads "1 %", "64 KiB", or "//memo/*=1 %" for some labels. kInvalidArgument
// says what a limit looks like.
absl::StatusOr<GrowthLimit> ParseGrowthLimit(absl::string_view text);

struct BaseComparisonOptions {
  // The most particular of the limits that match a label holds, and the last of
  // equally particular ones. If none matches, nothing may grow.
  std::vector<GrowthLimit> limits;
  // Labels that the change renamed: the base's name, then the change's.
  std::vector<std::pair<std::string, std::string>> renamed;
  std::string base_name = "the base";
};

// A figure that differs, for a row of a table.
struct ComparedFigure {
  enum class Change { kGrown, kShrunk, kNew, kGone, kOther };

  Change change = Change::kOther;
  std::string label;
  std::string benchmark;  // empty: the deployment
  // "peak live +1.00 MiB (+1,048,576 B, +50.0 %): 2,097,152 B -> ...".
  std::string description;
  // The reasons, the most telling first; see growth_reasons.h.
  std::vector<std::string> reasons;
  bool is_over_limit = false;
};

struct BaseComparison {
  ProfileDiff diff;
  // Figures over their limit stand first; each part is in the order of `diff`.
  std::vector<ComparedFigure> figures;
  // Has a judgement for each limited figure that grew or shrank. REJECT: one
  // grew by too much; PRODUCER_FAILED, ENVIRONMENT_MISMATCH, INCONCLUSIVE: see
  // its problems.
  Verdict verdict;
  // Advice, such as how to say that a label was renamed.
  std::vector<std::string> hints;
};

// kInvalidArgument if one side has a benchmark twice, or the base lacks a label
// that was renamed.
absl::StatusOr<BaseComparison> CompareWithBase(
    std::vector<MemoryProfile> base, std::vector<MemoryProfile> change,
    const BaseComparisonOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_BASE_COMPARISON_H_
