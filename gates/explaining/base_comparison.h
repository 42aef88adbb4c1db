// Compares the profiles of a change with those of its base: finds the figures
// that are new, gone, grown or shrunk, and those that grew beyond a limit.
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
// leaves behind. Phases and lines are not judged; they explain the growth.
// Figures that are not EXACT vary from run to run, so a change of at most 5 %
// or 512 KiB, whichever is more, is ignored.
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

// Parses "1 %", "64 KiB", or "//memo/*=1 %" for some labels. Returns
// kInvalidArgument, with examples, for any other text.
absl::StatusOr<GrowthLimit> ParseGrowthLimit(absl::string_view text);

struct BaseComparisonOptions {
  // The most particular limit that matches a label holds, or the last of
  // several that are equally particular. If none matches, nothing may grow.
  std::vector<GrowthLimit> limits;
  // Labels that the change renamed: the old label, then the new one.
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
  // The reasons, the most important first; see growth_reasons.h.
  std::vector<std::string> reasons;
  bool is_over_limit = false;
};

struct BaseComparison {
  ProfileDiff diff;
  // Figures over their limit stand first; each part is in the order of `diff`.
  std::vector<ComparedFigure> figures;
  // Has a judgement for each limited figure that grew or shrank. It is REJECT
  // if one grew by too much. Its problems explain PRODUCER_FAILED,
  // ENVIRONMENT_MISMATCH and INCONCLUSIVE.
  Verdict verdict;
  // Advice, such as how to say that a label was renamed.
  std::vector<std::string> hints;
};

// Compares the two sets of profiles. Returns kInvalidArgument if one side has a
// benchmark twice, or the base lacks a renamed label.
absl::StatusOr<BaseComparison> CompareWithBase(
    std::vector<MemoryProfile> base, std::vector<MemoryProfile> change,
    const BaseComparisonOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_BASE_COMPARISON_H_
