// The commits between two revisions, measured by a gate of theirs: what a
// search for culprits (gates/trend/culprit_search.h) asks.
//
//   GateCommitsOptions options;
//   options.base.workspace = "/home/ann/project";
//   options.base.diff_target = "//gates:diff";
//   absl::StatusOr<GateCommits> commits =
//       GateCommits::Read(options, "v1.0", "main");
//   if (!commits.ok()) return commits.status();
//   absl::StatusOr<CulpritSearch> search = FindCulprits(&*commits, {});
//
// Each commit is measured as base_profiles.h does it. With a history, commits
// that it has are not measured, if they were measured in this environment. A
// gate or label that was renamed is found if there is one only, or named.
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
  BaseRevision base;  // without a revision
  // Labels and gates that were renamed: the older name, then the newer.
  std::vector<std::pair<std::string, std::string>> renamed;
  CommitHistory* history =
      nullptr;  // null: there is none; outlives the commits
};

// Returns the program that writes the profiles of a gate: its label with
// ".diff". A label without a colon is the target of its package's name.
std::string FindDiffTarget(const std::string& gate);

class GateCommits : public CommitRange {
 public:
  // kInvalidArgument: a revision is not there, or `good` is not before `bad`,
  // or is not among the first parents of `bad`.
  static absl::StatusOr<GateCommits> Read(const GateCommitsOptions& options,
                                          const std::string& good,
                                          const std::string& bad);

  size_t size() const override { return commits_.size(); }
  // kAborted, once at most: the figures that the history has are of another
  // environment than those measured here, and are forgotten; search again.
  absl::StatusOr<Outcome> Measure(size_t commit) override;
  bool IsKnown(size_t commit) override;
  bool IsRelevant(size_t commit) override;
  absl::StatusOr<int64_t> ComputeGrowth(size_t from, size_t to) override;

  // Adds what was measured to the history, unless figures of another
  // environment are there, beside which it would be misread. Call it when the
  // search has ended, also by an error.
  void AddToHistory();

  // How often a commit was measured, or could not be.
  int64_t measured_count() const { return measured_count_; }
  // Both were measured.
  absl::StatusOr<BaseComparison> Compare(size_t from, size_t to) const;

  const Commit& commit(size_t index) const { return commits_[index]; }
  // Why a commit could not be measured, in its own words.
  const std::map<size_t, std::string>& failures() const { return failures_; }
  // Remarks for the reader: renamed gates, damage in the history.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  explicit GateCommits(const GateCommitsOptions& options) : options_(options) {}

  absl::optional<CommitProfiles> FindInHistory(size_t commit);
  // Returns in what a stored commit's environment differs; "" if in nothing.
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
  bool is_history_lost_ = false;   // it is down, full, or of no use
  bool is_history_other_ = false;  // it has another environment's figures
  std::map<size_t, std::string> failures_;
  std::vector<std::string> remarks_;
  GateInputs inputs_;
};

}  // namespace footprint

// Tested by culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_GATE_COMMITS_H_
