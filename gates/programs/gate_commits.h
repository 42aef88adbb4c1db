// Measures the commits between two revisions with their own gate, for a search
// for culprits (gates/trend/culprit_search.h).
//
//   GateCommitsOptions options;
//   options.base.workspace = "/home/ann/project";
//   options.base.diff_target = "//gates:diff";
//   absl::StatusOr<GateCommits> commits =
//       GateCommits::Read(options, "v1.0", "main");
//   if (!commits.ok()) return commits.status();
//   absl::StatusOr<CulpritSearch> search = FindCulprits(&*commits, {});
//
// Each commit is measured as in base_profiles.h. Commits that the history has
// from this environment are not measured. If exactly one label was renamed, it
// is found; other new names must be given.
//
// Not thread-safe: runs git and Bazel, and waits. Memory: the profiles of the
// measured commits.

#ifndef FOOTPRINT_GATES_PROGRAMS_GATE_COMMITS_H_
#define FOOTPRINT_GATES_PROGRAMS_GATE_COMMITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/programs/base_profiles.h"
#include "footprint/gates/trend/commit_history.h"
#include "footprint/gates/trend/commit_list.h"
#include "footprint/gates/trend/culprit_search.h"

namespace footprint {

struct GateCommitsOptions {
  BaseRevision base;  // its `revision` is not used
  // Labels and gates that were renamed: the older name, then the newer.
  std::vector<std::pair<std::string, std::string>> renamed;
  // Null if there is no history. It must outlive the GateCommits.
  CommitHistory* history = nullptr;
};

// Returns the program that writes the profiles of a gate: its label with
// ".diff". A label that ends in ".diff" or ":diff" stays as it is. A label
// without a colon means the target that has its package's name.
std::string FindDiffTarget(const std::string& gate);

class GateCommits : public CommitRange {
 public:
  // Reads the commits from git. Returns kInvalidArgument if a revision does not
  // exist, or if `good` is not a first-parent ancestor of `bad`. Other errors
  // are those of ReadCommitLog.
  static absl::StatusOr<GateCommits> Read(const GateCommitsOptions& options,
                                          const std::string& good,
                                          const std::string& bad);

  size_t size() const override { return commits_.size(); }
  // Returns kAborted at most once, if the figures in the history turn out to be
  // from another environment. They are then forgotten: search again.
  absl::StatusOr<Outcome> Measure(size_t commit) override;
  bool IsKnown(size_t commit) override;
  bool IsRelevant(size_t commit) override;
  absl::StatusOr<int64_t> ComputeGrowth(size_t from, size_t to) override;

  // Adds the measured commits to the history, unless it has figures of another
  // environment, which would not be comparable. Call it when the search has
  // ended, also after an error.
  void AddToHistory();

  // Returns the number of attempts to measure a commit.
  int64_t measured_count() const { return measured_count_; }
  // Compares two commits, both of which must have been measured.
  absl::StatusOr<BaseComparison> Compare(size_t from, size_t to) const;

  const Commit& commit(size_t index) const { return commits_[index]; }
  // Returns for each commit that could not be measured the message that says
  // why.
  const std::map<size_t, std::string>& failures() const { return failures_; }
  // Returns remarks for the reader: renamed gates, damage in the history.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  explicit GateCommits(const GateCommitsOptions& options) : options_(options) {}

  absl::optional<CommitProfiles> FindInHistory(size_t commit);
  // Returns how a stored commit's environment differs; "" if it does not.
  std::string FindOtherEnvironment(const CommitProfiles& stored) const;
  void NoteOtherEnvironment(const std::string& other);
  // Forgets all stored commits if one differs, and returns kAborted.
  absl::Status CheckHistory(const CommitProfiles& fresh);
  // The gate's names, the newest first.
  std::vector<std::string> FindNames() const;
  absl::StatusOr<MeasuredRevision> MeasureUnderEachName(size_t commit);
  void Keep(size_t commit, const CommitProfiles& profiles);

  const GateCommitsOptions options_;
  std::vector<Commit> commits_;
  std::map<size_t, CommitProfiles> measured_;
  std::set<size_t> fresh_;  // those of measured_ that were measured here
  int64_t measured_count_ = 0;
  std::map<size_t, bool> is_in_history_;
  bool is_history_lost_ = false;   // it is down, full, or not usable here
  bool is_history_other_ = false;  // it has another environment's figures
  std::map<size_t, std::string> failures_;
  std::vector<std::string> remarks_;
  GateInputs inputs_;
};

}  // namespace footprint

// Tested by culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_GATE_COMMITS_H_
