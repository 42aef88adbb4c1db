// Finds the commits by which a figure grew, with few measurements.
//
//   absl::StatusOr<CulpritSearch> search = FindCulprits(&range, options);
//   if (!search.ok()) return search.status();
//   for (const Culprit& culprit : search->culprits) Show(culprit);
//
// The search halves each range whose end needs more than its beginning, the
// range with the largest growth first. It measures only commits that change
// what the gate is made from. Commits that cannot be measured are passed over:
// if they hide which of several commits it was, all of these are named. So a
// growth that is split over two commits is found as two, and one that was taken
// back within a range is not seen. A growth of which no half shows, since each
// is as small as figures vary, is named with all of its commits.
//
// A commit that is found is measured, and so is the one before it: it needs
// more. So what IsRelevant does not know costs measurements, and blames nobody.
//
// Thread-compatible. Memory: some bytes a commit. Time: that of the
// measurements, about two for each culprit and halving,
// and two to be sure.

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
  // Returns whether the commit changes what the gate is made from, as far as
  // the measured commits tell. May turn to true as more are measured.
  virtual bool IsRelevant(size_t commit) = 0;
  // Returns by how many bytes `to` needs more than `from`; 0 if it does not.
  // Both were measured.
  virtual absl::StatusOr<int64_t> ComputeGrowth(size_t from, size_t to) = 0;
};

struct CulpritOptions {
  // How many commits may be measured, with the first and the last. The others
  // are named as ranges.
  int64_t most_measured = 30;
};

struct Culprit {
  enum class Certainty {
    kFound,             // `commits` is `after`, and `before` the one before
    kSomeUnmeasurable,  // probably one or more of the commits
    kTooMany,           // the same; the measurements were used up
    kSpread,            // together; neither half of them grew by itself
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
  std::vector<size_t> unmeasurable;
  // From the first to the last commit; 0: nothing grew, and there is no
  // culprit.
  int64_t growth_bytes = 0;
};

// kFailedPrecondition: the first or the last commit cannot be measured. Else
// the errors of `range`.
absl::StatusOr<CulpritSearch> FindCulprits(CommitRange* range,
                                           const CulpritOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TREND_CULPRIT_SEARCH_H_
