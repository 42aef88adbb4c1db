#include "footprint/gates/statistics/budget_bound.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/gates/statistics/distributions.h"

namespace footprint {
namespace {

// The numbers of exceeding runs at which a look at the growing sample decides.
struct Stops {
  int64_t most_to_accept = -1;   // fewer than 0: no number accepts
  int64_t fewest_to_reject = 0;  // more than the runs: no number rejects
};

// Computes the stops of all looks up to the last one. probabilities_[e] is the
// probability of e misfits so far, without an earlier decision, if exactly
// `share` of all runs fit.
class Looks {
 public:
  Looks(const BudgetRule& rule, int64_t last_look)
      : rule_(rule), probabilities_(1, 1) {
    for (int64_t look : kSampleSchedule) {
      if (look < last_look) Look(look);
    }
    Look(last_look);
  }

  const Stops& last() const { return last_; }

 private:
  void Look(int64_t run_count) {
    while (static_cast<int64_t>(probabilities_.size()) <= run_count) AddRun();
    last_ = {};
    double accepted = accepted_;
    for (int64_t e = 0; e <= run_count; ++e) {
      accepted += At(e);
      if (accepted > 1 - rule_.confidence) break;
      last_.most_to_accept = e;
    }
    double rejected = rejected_;
    last_.fewest_to_reject = run_count + 1;
    for (int64_t e = run_count; e > last_.most_to_accept; --e) {
      rejected += At(e);
      if (rejected > kFalseAlarmShare) break;
      last_.fewest_to_reject = e;
    }
    for (int64_t e = 0; e <= run_count; ++e) {
      if (e <= last_.most_to_accept) {
        accepted_ += Take(e);
      } else if (e >= last_.fewest_to_reject) {
        rejected_ += Take(e);
      }
    }
  }

  void AddRun() {
    probabilities_.push_back(0);
    for (size_t e = probabilities_.size() - 1; e > 0; --e) {
      probabilities_[e] = probabilities_[e] * rule_.share +
                          probabilities_[e - 1] * (1 - rule_.share);
    }
    probabilities_[0] *= rule_.share;
  }

  double At(int64_t exceeding) const {
    return probabilities_[static_cast<size_t>(exceeding)];
  }
  double Take(int64_t exceeding) {
    return std::exchange(probabilities_[static_cast<size_t>(exceeding)], 0);
  }

  const BudgetRule rule_;
  std::vector<double> probabilities_;
  double accepted_ = 0;
  double rejected_ = 0;
  Stops last_;
};

std::string Percent(double share) {
  return absl::StrFormat("%.4g %%", 100 * share);
}

}  // namespace

double FitConfidence(int64_t run_count, int64_t exceeding, double share) {
  if (exceeding >= run_count) return 0;
  return BinomialLowerTail(run_count, share, run_count - exceeding - 1);
}

int64_t RunsForConfidence(int64_t exceeding, double share, double confidence) {
  int64_t enough = exceeding + 1;
  while (FitConfidence(enough, exceeding, share) < confidence) enough *= 2;
  int64_t too_few = exceeding;
  while (too_few + 1 < enough) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (FitConfidence(middle, exceeding, share) < confidence ? too_few : enough) =
        middle;
  }
  return enough;
}

double MisfitPValue(int64_t run_count, int64_t exceeding, double share) {
  if (exceeding <= 0) return 1;
  return BinomialUpperTail(run_count, 1 - share, exceeding);
}

SampleDecision JudgeBudget(const FittingRuns& runs, const BudgetRule& rule) {
  SampleDecision decision;
  const std::string seen =
      absl::StrCat(runs.exceeding, " of ", runs.run_count, " runs exceed it");
  const std::string claim = absl::StrCat(
      Percent(rule.share), " of all runs keep it, at a confidence of ",
      Percent(rule.confidence));
  if (runs.run_count > 0) {
    const Stops stops = Looks(rule, runs.run_count).last();
    if (runs.exceeding <= stops.most_to_accept) {
      decision.kind = SampleDecision::kAccept;
      decision.reason = absl::StrCat(seen, ", so ", claim);
      return decision;
    }
    if (runs.exceeding >= stops.fewest_to_reject) {
      decision.kind = SampleDecision::kReject;
      decision.reason = absl::StrFormat(
          "%s; of a program of which %s keep it, so many would in a share of "
          "%.2g at most",
          seen, Percent(rule.share),
          MisfitPValue(runs.run_count, runs.exceeding, rule.share));
      return decision;
    }
  }
  decision.more_runs = std::max<int64_t>(
      1, RunsForConfidence(runs.exceeding, rule.share, rule.confidence) -
             runs.run_count);
  decision.reason =
      absl::StrCat(seen, ", which does not show that ", claim, "; ",
                   decision.more_runs, " more that keep it would, at least");
  return decision;
}

}  // namespace footprint
