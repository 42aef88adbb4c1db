// Finds the commits by which a figure grew, with few measurements.
//
//   absl::StatusOr<CulpritSearch> search = FindCulprits(&range, options);
//   if (!search.ok()) return search.status();
//   for (const Culprit& culprit : search->culprits) Show(culprit);
//
// The search halves each range whose end needs more than its beginning, the
// range with the largest growth first. It measures only commits that change
// the gate's files. Commits that cannot be measured are skipped; if they hide
// which of several commits is the culprit, all of these are named. If two
// commits share a growth, both are found. A growth that was reverted within a
// range is not seen. If neither half of a range grew by more than figures vary,
// all its commits are named together.
//
// A commit is kFound only if it and the commit before it were measured, and it
// needs more. So if IsRelevant misses a commit, the search takes more
// measurements, but no other commit is kFound in its place. Several suspects
// are named only if their range grew from the commit before the first one to
// the last one, unless these cannot be measured.
//
// Thread-compatible. Memory: some bytes for each commit. Time: that of the
// measurements. These are both ends, about one commit for each halving on the
// way to a culprit, and up to two more to be sure of it. Commits that cannot be
// measured come in addition.

#ifndef FOOTPRINT_GATES_TREND_CULPRIT_SEARCH_H_
#define FOOTPRINT_GATES_TREND_CULPRIT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

// Commits in the order in which they were made: 0 is the good one, the last the
// bad one.
class CommitRange {
 public:
  enum class Outcome { kMeasured, kKnown, kUnmeasurable };

  virtual ~CommitRange() = default;

  virtual size_t size() const = 0;
  // Measures a commit, unless its figures are known already. An error ends the
  // search.
  virtual absl::StatusOr<Outcome> Measure(size_t commit) = 0;
  // Returns whether Measure would give kKnown.
  virtual bool IsKnown(size_t commit) = 0;
  // Returns whether the commit changes the gate's files, as far as the measured
  // commits tell. The answer may become true as more commits are measured.
  virtual bool IsRelevant(size_t commit) = 0;
  // Returns by how many bytes `to` needs more than `from`; 0 if it does not.
  // Both must have been measured.
  virtual absl::StatusOr<int64_t> ComputeGrowth(size_t from, size_t to) = 0;
};

struct CulpritOptions {
  // The most commits to measure, the first and the last included. Ranges that
  // were not narrowed to one commit are named.
  int64_t most_measured = 30;
};

struct Culprit {
  enum class Certainty {
    kFound,  // `commits` has only `after`; `before` is the commit before it
    kSomeUnmeasurable,  // probably one or more of the commits
    kTooMany,           // the same, because `most_measured` was reached
    kSpread,            // all of them together; neither half grew by itself
  };

  Certainty certainty = Certainty::kFound;
  size_t before = 0;  // the measured commit that needed less
  size_t after = 0;   // the measured commit that needs more
  // Commits that may be to blame, in their order.
  std::vector<size_t> commits;
  int64_t growth_bytes = 0;
};

struct CulpritSearch {
  std::vector<Culprit> culprits;  // in the order of the commits
  int64_t measured_count = 0;     // attempts that failed count, too
  // How many of these were measured only to be sure of a single suspect. They
  // are the suspect and the commit before it. Most change none of the gate's
  // files, so that Bazel has their figures in its cache.
  int64_t confirming_count = 0;
  std::vector<size_t> unmeasurable;
  // The growth from the first to the last commit; 0 if nothing grew, and then
  // there is no culprit.
  int64_t growth_bytes = 0;
};

// Returns kFailedPrecondition if the first or the last commit cannot be
// measured. `range` must not be empty. Other errors are those of `range`.
absl::StatusOr<CulpritSearch> FindCulprits(CommitRange* range,
                                           const CulpritOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TREND_CULPRIT_SEARCH_H_
