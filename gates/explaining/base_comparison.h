// Judges a change by its base: what each figure may grow by, and what is new,
// gone, grown and shrunk.
//
//   BaseComparisonOptions options;
//   options.limits = {*ParseGrowthLimit("1 %")};
//   absl::StatusOr<BaseComparison> comparison =
//       CompareWithBase(base, change, options);
//   if (!comparison.ok()) return comparison.status();
//   return comparison->verdict.decision();
//
// A limit is for the peak of a whole benchmark: of its heap, of what it maps,
// of a whole process, and for what it leaves behind (net growth). Its phases
// and lines are the reasons. Figures that are not EXACT vary from run to run: a
// change of less than 5 % and 256 KiB is none.
//
// Pure functions, thread-safe; the result owns its texts. Memory: as
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

// How far figures of the labels that a glob names may grow.
struct GrowthLimit {
  std::string label = "*";
  Headroom above;
};

// Reads "1 %", "64 KiB", or "//memo/*=1 %" for some labels. kInvalidArgument
// says what a limit looks like.
absl::StatusOr<GrowthLimit> ParseGrowthLimit(absl::string_view text);

struct BaseComparisonOptions {
  // The most particular that names a label holds; of several, the last. None:
  // nothing may grow.
  std::vector<GrowthLimit> limits;
  // Labels of the base that have another name in the change.
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
  // Why, the most telling first; see growth_reasons.h.
  std::vector<std::string> reasons;
  bool is_over_limit = false;
};

struct BaseComparison {
  ProfileDiff diff;
  // What is over its limit first, then in the order of `diff`.
  std::vector<ComparedFigure> figures;
  // A judgement for each figure with a limit that grew or shrank. REJECT: one
  // grew by too much; PRODUCER_FAILED, ENVIRONMENT_MISMATCH, INCONCLUSIVE: see
  // its problems.
  Verdict verdict;
  // Advice, such as how to say that a label was renamed.
  std::vector<std::string> hints;
};

// kInvalidArgument if one side has a benchmark twice, or a label that is said
// to be renamed is not there.
absl::StatusOr<BaseComparison> CompareWithBase(
    std::vector<MemoryProfile> base, std::vector<MemoryProfile> change,
    const BaseComparisonOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_BASE_COMPARISON_H_
