#include "footprint/gates/programs/gate_commits.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/gates/programs/git_log.h"

namespace footprint {
namespace {

std::set<std::string> LabelsOf(const CommitProfiles& profiles) {
  std::set<std::string> labels;
  for (const MemoryProfile& profile : profiles.profiles()) {
    labels.insert(profile.label());
  }
  return labels;
}

// Labels that only one of the two has.
std::vector<std::string> Difference(const std::set<std::string>& these,
                                    const std::set<std::string>& others) {
  std::vector<std::string> only;
  std::set_difference(these.begin(), these.end(), others.begin(), others.end(),
                      std::back_inserter(only));
  return only;
}

using Renamed = std::vector<std::pair<std::string, std::string>>;

// Returns which of `labels` a label was renamed to, by any number of steps; ""
// if none.
std::string FollowNames(std::string label, const Renamed& named,
                        const std::vector<std::string>& labels) {
  for (size_t step = 0; step < named.size(); ++step) {
    const auto next = std::find_if(
        named.begin(), named.end(),
        [&label](const auto& each) { return each.first == label; });
    if (next == named.end()) return "";
    label = next->second;
    if (std::count(labels.begin(), labels.end(), label) > 0) return label;
  }
  return "";
}

// The labels that were renamed between two commits: those that were named, and
// else the only one that is gone, for the only one that is new.
Renamed FindRenamed(const CommitProfiles& from, const CommitProfiles& to,
                    const Renamed& named) {
  const std::vector<std::string> gone =
      Difference(LabelsOf(from), LabelsOf(to));
  const std::vector<std::string> added =
      Difference(LabelsOf(to), LabelsOf(from));
  Renamed renamed;
  for (const std::string& label : gone) {
    const std::string new_label = FollowNames(label, named, added);
    if (!new_label.empty()) renamed.emplace_back(label, new_label);
  }
  if (renamed.empty() && gone.size() == 1 && added.size() == 1) {
    renamed.emplace_back(gone.front(), added.front());
  }
  return renamed;
}

// Returns in what the environments of the same labels differ; "" if in nothing.
std::string DescribeOtherEnvironment(const CommitProfiles& here,
                                     const CommitProfiles& there) {
  for (const MemoryProfile& profile : here.profiles()) {
    for (const MemoryProfile& other : there.profiles()) {
      if (profile.label() == other.label() &&
          CountDifferences(profile.environment(), other.environment()) > 0) {
        return DescribeDifference(profile.environment(), other.environment());
      }
    }
  }
  return "";
}

// kInvalidArgument: the parent of the oldest commit is not `good`, which came
// by a merge; what its branch and the line share is then in no commit between.
absl::Status CheckIsOnLine(const std::string& workspace,
                           const std::string& good_hash,
                           const std::string& oldest_hash,
                           const std::string& good, const std::string& bad) {
  constexpr size_t kShortHash = 12;
  const absl::StatusOr<std::string> parent = AskGit(
      workspace, {"rev-parse", "--verify", absl::StrCat(oldest_hash, "^1")});
  if (absl::IsCancelled(parent.status())) return parent.status();
  if (parent.ok() && *parent == good_hash) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      EscapeForTerminal(good), ": is no commit of ", EscapeForTerminal(bad),
      "'s own line, but came to it by a merge, and merges count as one commit",
      parent.ok()
          ? absl::StrCat("; name the newest one of that line that it is made "
                         "on: --good=",
                         parent->substr(0, kShortHash))
          : "; name a commit of that line by --good="));
}

}  // namespace

std::string FindDiffTarget(const std::string& gate) {
  if (absl::EndsWith(gate, ".diff") || absl::EndsWith(gate, ":diff")) {
    return gate;
  }
  const size_t slash = gate.rfind('/');
  if (!absl::StrContains(gate, ':') && slash != std::string::npos) {
    return absl::StrCat(gate, ":", gate.substr(slash + 1), ".diff");
  }
  return absl::StrCat(gate, ".diff");
}

absl::StatusOr<GateCommits> GateCommits::Read(const GateCommitsOptions& options,
                                              const std::string& good,
                                              const std::string& bad) {
  const std::string& workspace = options.base.workspace;
  GateCommits commits(options);
  std::string hashes[2];
  for (const auto& [revision, hash] :
       {std::pair(&good, &hashes[0]), std::pair(&bad, &hashes[1])}) {
    absl::StatusOr<std::string> found = FindCommit(workspace, *revision);
    if (!found.ok()) return found.status();
    *hash = *std::move(found);
  }
  absl::StatusOr<std::vector<Commit>> first =
      ReadCommitLog(workspace, {"--max-count=1", hashes[0]});
  absl::StatusOr<std::vector<Commit>> others =
      ReadCommitLog(workspace, {absl::StrCat(hashes[0], "..", hashes[1])});
  if (!first.ok()) return first.status();
  if (!others.ok()) return others.status();
  const absl::Status is_before =
      AskGit(workspace, {"merge-base", "--is-ancestor", hashes[0], hashes[1]})
          .status();
  if (absl::IsCancelled(is_before)) return is_before;
  if (!is_before.ok() || first->empty() || others->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        EscapeForTerminal(good), ": is not before ", EscapeForTerminal(bad),
        "; name an older commit by --good= and a newer one by --bad="));
  }
  const absl::Status is_on_line =
      CheckIsOnLine(workspace, hashes[0], others->front().hash, good, bad);
  if (!is_on_line.ok()) return is_on_line;
  commits.commits_ = *std::move(first);
  commits.commits_.insert(commits.commits_.end(), others->begin(),
                          others->end());
  return commits;
}

absl::optional<CommitProfiles> GateCommits::FindInHistory(size_t commit) {
  if (options_.history == nullptr || is_history_lost_) return absl::nullopt;
  absl::StatusOr<CommitProfiles> read =
      options_.history->Read(commits_[commit].hash, options_.base.diff_target);
  if (!read.ok()) {
    if (absl::IsNotFound(read.status())) return absl::nullopt;
    is_history_lost_ = !absl::IsDataLoss(read.status());
    remarks_.push_back(absl::StrCat(read.status().message(),
                                    is_history_lost_
                                        ? "; commits are measured instead"
                                        : "; the commit is measured instead"));
    return absl::nullopt;
  }
  // Without its inputs nothing is known of the commits after it.
  if (read->inputs().empty()) return absl::nullopt;
  const std::string other = FindOtherEnvironment(*read);
  if (other.empty()) return *std::move(read);
  NoteOtherEnvironment(other);
  return absl::nullopt;
}

std::string GateCommits::FindOtherEnvironment(
    const CommitProfiles& stored) const {
  for (const auto& [commit, profiles] : measured_) {
    // As soon as commits were measured in this run, only they are compared.
    if (!fresh_.empty() && fresh_.count(commit) == 0) continue;
    const std::string other = DescribeOtherEnvironment(profiles, stored);
    if (!other.empty()) return other;
  }
  return "";
}

void GateCommits::NoteOtherEnvironment(const std::string& other) {
  if (is_history_other_) return;
  is_history_other_ = true;
  remarks_.push_back(absl::StrCat(
      "the store has commits of another environment than others, where ", other,
      "; these are measured again, and nothing is added to it"));
}

absl::Status GateCommits::CheckHistory(const CommitProfiles& fresh) {
  std::string other;
  for (const auto& [commit, profiles] : measured_) {
    if (fresh_.count(commit) > 0 || !other.empty()) continue;
    other = DescribeOtherEnvironment(fresh, profiles);
  }
  if (other.empty()) return absl::OkStatus();
  NoteOtherEnvironment(other);
  is_history_lost_ = true;
  is_in_history_.clear();
  for (auto each = measured_.begin(); each != measured_.end();) {
    each =
        fresh_.count(each->first) > 0 ? std::next(each) : measured_.erase(each);
  }
  return absl::AbortedError(
      "the store's commits were measured in another environment; search again");
}

void GateCommits::AddToHistory() {
  if (options_.history == nullptr) return;
  for (const size_t commit : fresh_) {
    if (is_history_lost_ || is_history_other_) return;
    const absl::Status kept = options_.history->Add(measured_.at(commit));
    if (kept.ok()) continue;
    remarks_.push_back(
        absl::StrCat(kept.message(), "; what is measured is not kept"));
    is_history_lost_ = true;
  }
}

bool GateCommits::IsKnown(size_t commit) {
  if (measured_.count(commit) > 0) return true;
  const auto known = is_in_history_.find(commit);
  if (known != is_in_history_.end()) return known->second;
  const absl::optional<CommitProfiles> found = FindInHistory(commit);
  is_in_history_[commit] = found.has_value();
  if (found.has_value()) Keep(commit, *found);
  return found.has_value();
}

void GateCommits::Keep(size_t commit, const CommitProfiles& profiles) {
  measured_[commit] = profiles;
  inputs_.Add({profiles.inputs().begin(), profiles.inputs().end()});
}

std::vector<std::string> GateCommits::FindNames() const {
  std::vector<std::string> names = {options_.base.diff_target};
  for (size_t i = 0; i < names.size(); ++i) {
    for (const auto& [old_name, new_name] : options_.renamed) {
      // The gate itself may be named, or its program.
      const bool is_program = names[i] == new_name;
      if (!is_program && names[i] != FindDiffTarget(new_name)) continue;
      std::string older = is_program ? old_name : FindDiffTarget(old_name);
      if (std::count(names.begin(), names.end(), older) == 0) {
        names.push_back(std::move(older));
      }
    }
  }
  return names;
}

absl::StatusOr<MeasuredRevision> GateCommits::MeasureUnderEachName(
    size_t commit) {
  BaseRevision base = options_.base;
  base.revision = commits_[commit].hash;
  absl::StatusOr<MeasuredRevision> newest = MeasureRevision(base);
  if (!absl::IsNotFound(newest.status())) return newest;
  for (const std::string& name : FindNames()) {
    if (name == options_.base.diff_target) continue;
    base.diff_target = name;
    absl::StatusOr<MeasuredRevision> measured = MeasureRevision(base);
    if (!absl::IsNotFound(measured.status())) return measured;
  }
  return newest;
}

absl::StatusOr<CommitRange::Outcome> GateCommits::Measure(size_t commit) {
  if (IsKnown(commit)) return Outcome::kKnown;
  ++measured_count_;
  absl::StatusOr<MeasuredRevision> measured = MeasureUnderEachName(commit);
  std::string failure;
  if (!measured.ok()) {
    const bool is_ours = absl::IsFailedPrecondition(measured.status()) ||
                         absl::IsNotFound(measured.status());
    if (!is_ours) return measured.status();
    failure = std::string(measured.status().message());
  } else {
    for (const MemoryProfile& profile : measured->profiles) {
      if (profile.has_failure()) {
        failure = absl::StrCat(profile.label(), " failed when it was measured");
      }
    }
  }
  if (!failure.empty()) {
    failures_[commit] = failure;
    return Outcome::kUnmeasurable;
  }
  CommitProfiles profiles;
  profiles.set_commit(commits_[commit].hash);
  profiles.set_gate(options_.base.diff_target);
  for (MemoryProfile& profile : measured->profiles) {
    *profiles.add_profiles() = std::move(profile);
  }
  for (std::string& input : measured->inputs) {
    profiles.add_inputs(std::move(input));
  }
  const absl::Status fits = CheckHistory(profiles);
  fresh_.insert(commit);
  Keep(commit, profiles);
  if (!fits.ok()) return fits;
  return Outcome::kMeasured;
}

bool GateCommits::IsRelevant(size_t commit) {
  return inputs_.AreChangedBy(commits_[commit]);
}

absl::StatusOr<BaseComparison> GateCommits::Compare(size_t from,
                                                    size_t to) const {
  const CommitProfiles& before = measured_.at(from);
  const CommitProfiles& after = measured_.at(to);
  BaseComparisonOptions options;
  options.renamed = FindRenamed(before, after, options_.renamed);
  options.base_name = commits_[from].hash;
  return CompareWithBase(ProfilesOf(before), ProfilesOf(after), options);
}

absl::StatusOr<int64_t> GateCommits::ComputeGrowth(size_t from, size_t to) {
  const absl::StatusOr<BaseComparison> comparison = Compare(from, to);
  if (!comparison.ok()) return comparison.status();
  int64_t growth_bytes = 0;
  for (const Judgement& judgement : comparison->verdict.judgements()) {
    // Without a limit of growth, the limit is the base's figure.
    growth_bytes =
        std::max(growth_bytes, judgement.measured() - judgement.limit());
  }
  return growth_bytes;
}

}  // namespace footprint
