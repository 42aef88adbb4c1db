#include "footprint/gates/trend/culprit_search.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"

namespace footprint {
namespace {

using Certainty = Culprit::Certainty;
using Outcome = CommitRange::Outcome;

// Two measured commits of which the later one needs more.
struct Grown {
  size_t from = 0;
  size_t to = 0;
  int64_t growth_bytes = 0;
};

class Search {
 public:
  Search(CommitRange* range, const CulpritOptions& options)
      : range_(*range), options_(options) {}

  absl::StatusOr<CulpritSearch> Run() {
    const size_t last = range_.size() - 1;
    for (const size_t end : {last, size_t{0}}) {
      const absl::StatusOr<bool> is_measured = Measure(end);
      if (!is_measured.ok()) return is_measured.status();
      if (*is_measured) continue;
      return absl::FailedPreconditionError(
          end == 0 ? "the good commit cannot be measured; name another"
                   : "the bad commit cannot be measured; name another");
    }
    absl::Status status = Note(0, last);
    if (status.ok() && !open_.empty()) {
      result_.growth_bytes = open_.front().growth_bytes;
    }
    while (status.ok() && !open_.empty()) status = Halve(TakeLargest());
    if (!status.ok()) return status;
    std::sort(
        result_.culprits.begin(), result_.culprits.end(),
        [](const Culprit& a, const Culprit& b) { return a.before < b.before; });
    return std::move(result_);
  }

 private:
  absl::StatusOr<bool> Measure(size_t commit) {
    const absl::StatusOr<Outcome> outcome = range_.Measure(commit);
    if (!outcome.ok()) return outcome.status();
    if (*outcome != Outcome::kKnown) ++result_.measured_count;
    if (*outcome != Outcome::kUnmeasurable) return true;
    if (unmeasurable_.insert(commit).second) {
      result_.unmeasurable.push_back(commit);
    }
    return false;
  }

  // Adds the range to those that are to be halved, if it grew.
  absl::Status Note(size_t from, size_t to) {
    const absl::StatusOr<int64_t> growth = range_.ComputeGrowth(from, to);
    if (!growth.ok()) return growth.status();
    if (*growth > 0) open_.push_back({from, to, *growth});
    return absl::OkStatus();
  }

  Grown TakeLargest() {
    const auto largest = std::max_element(
        open_.begin(), open_.end(), [](const Grown& a, const Grown& b) {
          return a.growth_bytes < b.growth_bytes;
        });
    const Grown taken = *largest;
    open_.erase(largest);
    return taken;
  }

  // The commits after `from`, up to `to`, that change what the gate is made of,
  // as far as is known; all of them if none is known to.
  std::vector<size_t> FindRelevant(const Grown& grown) {
    std::vector<size_t> relevant;
    std::vector<size_t> all;
    for (size_t i = grown.from + 1; i <= grown.to; ++i) {
      all.push_back(i);
      if (range_.IsRelevant(i)) relevant.push_back(i);
    }
    return relevant.empty() ? all : relevant;
  }

  // Returns the commit to measure next: the one nearest to the middle, but one
  // that is known already where it parts off at least a quarter.
  std::optional<size_t> ChooseNext(const std::vector<size_t>& relevant) {
    const size_t count = relevant.size() - 1;  // the last is as `to` is
    const auto distance = [count](size_t at) {
      const size_t twice = 2 * at + 1;
      return twice > count ? twice - count : count - twice;
    };
    std::optional<size_t> chosen;
    bool is_chosen_known = false;
    for (size_t at = 0; at < count; ++at) {
      const size_t commit = relevant[at];
      if (unmeasurable_.count(commit) > 0) continue;
      const bool is_known = range_.IsKnown(commit) && 2 * distance(at) <= count;
      if (!chosen.has_value() || is_known > is_chosen_known ||
          (is_known == is_chosen_known && distance(at) < distance(*chosen))) {
        chosen = at;
        is_chosen_known = is_known;
      }
    }
    if (!chosen.has_value()) return std::nullopt;
    return relevant[*chosen];
  }

  // Returns the next commit to measure if the suspects cannot be parted: the
  // commit before the first one, then the last one. IsRelevant may have missed
  // a change in the other commits.
  std::optional<size_t> ChooseEnd(const Grown& grown,
                                  const std::vector<size_t>& suspects) {
    for (const size_t each : {suspects.front() - 1, suspects.back()}) {
      if (grown.from < each && each < grown.to &&
          unmeasurable_.count(each) == 0) {
        return each;
      }
    }
    return std::nullopt;
  }

  absl::Status Halve(const Grown& grown) {
    if (grown.from + 1 == grown.to) {
      Blame(grown, {grown.to}, Certainty::kFound);
      return absl::OkStatus();
    }
    const std::vector<size_t> relevant = FindRelevant(grown);
    std::optional<size_t> next = ChooseNext(relevant);
    const bool is_confirming = !next.has_value();
    if (is_confirming) next = ChooseEnd(grown, relevant);
    if (!next.has_value()) {
      Blame(grown, relevant, Certainty::kSomeUnmeasurable);
      return absl::OkStatus();
    }
    if (result_.measured_count >= options_.most_measured &&
        !range_.IsKnown(*next)) {
      Blame(grown, relevant, Certainty::kTooMany);
      return absl::OkStatus();
    }
    const int64_t measured_before = result_.measured_count;
    const absl::StatusOr<bool> is_measured = Measure(*next);
    if (!is_measured.ok()) return is_measured.status();
    if (is_confirming) {
      result_.confirming_count += result_.measured_count - measured_before;
    }
    if (!*is_measured) {
      open_.push_back(grown);
      return absl::OkStatus();
    }
    const size_t open_before = open_.size();
    absl::Status status = Note(grown.from, *next);
    if (status.ok()) status = Note(*next, grown.to);
    if (status.ok() && open_.size() == open_before) {
      Blame(grown, relevant, Certainty::kSpread);
    }
    return status;
  }

  void Blame(const Grown& grown, std::vector<size_t> commits,
             Certainty certainty) {
    Culprit culprit;
    culprit.certainty = certainty;
    culprit.before = grown.from;
    culprit.after = grown.to;
    culprit.commits = std::move(commits);
    culprit.growth_bytes = grown.growth_bytes;
    result_.culprits.push_back(std::move(culprit));
  }

  CommitRange& range_;
  const CulpritOptions& options_;
  CulpritSearch result_;
  std::vector<Grown> open_;
  std::set<size_t> unmeasurable_;
};

}  // namespace

absl::StatusOr<CulpritSearch> FindCulprits(CommitRange* range,
                                           const CulpritOptions& options) {
  return Search(range, options).Run();
}

}  // namespace footprint
