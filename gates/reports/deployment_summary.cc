#include "footprint/gates/reports/deployment_summary.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/gates/judge/rules.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {
namespace {

// Returns whether the limit can have a margin. An exact value and a limit of
// zero never have one.
bool HasMargin(const Judgement& judgement) {
  return judgement.rule() != EXACT_VALUE && judgement.limit() != 0;
}

// Returns a key that is smaller if the figure is nearer to its limit. An AUDIT
// rule that does not hold decides nothing, so it comes after limits that hold.
std::tuple<int, double> ComputeNearness(const Judgement& judgement) {
  const double share = MarginShare(judgement);
  switch (FindOutcome(judgement)) {
    case Outcome::kRejects:
      return {0, share};
    case Outcome::kWarns:
      return {1, share};
    case Outcome::kHolds:
      return {HasMargin(judgement) ? 2 : 4, share};
    case Outcome::kIsRecorded:
      return {3, share};
  }
  return {5, share};
}

// Returns whether the location is a label, as for problems of a deployment.
bool IsLabel(const std::string& location) {
  return absl::StartsWith(location, "//") || absl::StartsWith(location, "@");
}

}  // namespace

double MarginShare(const Judgement& judgement) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double measured = static_cast<double>(judgement.measured());
  const double limit = static_cast<double>(judgement.limit());
  double left =
      judgement.rule() == MINIMUM ? measured - limit : limit - measured;
  if (judgement.rule() == EXACT_VALUE) {
    if (judgement.measured() == judgement.limit()) return kInfinity;
    left = -std::fabs(left);
  }
  if (left == 0) return 0;
  if (limit == 0) return left > 0 ? kInfinity : -kInfinity;
  return left / std::fabs(limit);
}

std::string MarginText(const Judgement& judgement) {
  constexpr double kLeastPercent = 0.1;
  if (judgement.decision() != ACCEPT && judgement.decision() != REJECT) {
    return "undecided";
  }
  // An exponent is a plain number.
  const bool has_unit = FindWords(judgement.rule()).has_metric_unit;
  const std::string limit =
      has_unit ? ShortMetricText(judgement.metric(), judgement.limit())
               : FormatCount(judgement.limit());
  if (judgement.measured() == judgement.limit()) {
    return judgement.rule() == EXACT_VALUE ? "exact"
                                           : absl::StrCat("none of ", limit);
  }
  const double percent = 100 * std::fabs(MarginShare(judgement));
  const bool is_share = percent >= kLeastPercent && std::isfinite(percent);
  const std::string size = is_share && percent < 1000
                               ? absl::StrFormat("%.1f %%", percent)
                               : DistanceText(judgement);
  // A budget holds although a few runs in a hundred exceed it.
  const bool is_kept =
      judgement.decision() == ACCEPT && MarginShare(judgement) >= 0;
  if (is_kept) return absl::StrCat(size, " of ", limit);
  return absl::StrCat(
      size, judgement.measured() > judgement.limit() ? " over " : " under ",
      limit);
}

std::vector<DeploymentSummary> SummarizeDeployments(const Verdict& verdict) {
  std::vector<DeploymentSummary> summaries;
  std::map<std::string, size_t> index_of_label;
  const auto summary_of = [&](const std::string& label) -> DeploymentSummary& {
    const auto added = index_of_label.emplace(label, summaries.size());
    if (added.second) {
      summaries.emplace_back();
      summaries.back().label = label;
    }
    return summaries[added.first->second];
  };
  for (int i = 0; i < verdict.judgements_size(); ++i) {
    const Judgement& judgement = verdict.judgements(i);
    DeploymentSummary& summary = summary_of(judgement.label());
    ++summary.rule_count;
    const Outcome outcome = FindOutcome(judgement);
    summary.rejected_count += outcome == Outcome::kRejects ? 1 : 0;
    summary.warned_count += outcome == Outcome::kWarns ? 1 : 0;
    if (summary.nearest < 0 ||
        ComputeNearness(judgement) <
            ComputeNearness(verdict.judgements(summary.nearest))) {
      summary.nearest = i;
    }
  }
  for (const Problem& problem : verdict.problems()) {
    if (IsLabel(problem.location())) summary_of(problem.location());
  }
  return summaries;
}

}  // namespace footprint
