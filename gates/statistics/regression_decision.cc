#include "footprint/gates/statistics/regression_decision.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/gates/statistics/distributions.h"
#include "footprint/gates/statistics/rank_test.h"

namespace footprint {
namespace {

// The shares of the error probabilities that a look at so many runs may use:
// the most for looks at which most decisions are made.
struct LookErrors {
  int64_t run_count;
  double false_alarm_share;
  double missed_share;
};
constexpr LookErrors kLookErrors[] = {
    {kSampleSchedule[0], 0.1 * kFalseAlarmShare, 0.1 * kMissedShare},
    {kSampleSchedule[1], 0.7 * kFalseAlarmShare, 0.4 * kMissedShare},
    {kSampleSchedule[2], 0.2 * kFalseAlarmShare, 0.5 * kMissedShare}};

const LookErrors* FindLook(size_t run_count) {
  const LookErrors* found = nullptr;
  for (const LookErrors& look : kLookErrors) {
    if (static_cast<int64_t>(run_count) >= look.run_count) found = &look;
  }
  return found;
}

std::vector<double> Grown(absl::Span<const double> sample, double share) {
  std::vector<double> grown(sample.begin(), sample.end());
  for (double& value : grown) value *= 1 + share;
  return grown;
}

// Returns the number of runs to add until the P-value reaches `wanted`, if the
// programs differ as much as the samples do. The normal deviate grows with the
// square root of the number of runs.
int64_t MoreRunsFor(double p_value, double wanted, size_t run_count) {
  constexpr double kMostGrowth = 100;
  const double has =
      p_value < 0.5 && p_value > 0 ? NormalUpperQuantile(p_value) : 0;
  const double needs = NormalUpperQuantile(wanted);
  const double growth = has > needs / std::sqrt(kMostGrowth)
                            ? needs * needs / (has * has)
                            : kMostGrowth;
  const double more = std::ceil((growth - 1) * static_cast<double>(run_count));
  return std::max<int64_t>(1, static_cast<int64_t>(more));
}

std::string DescribeEffect(double effect, size_t run_count,
                           size_t baseline_count) {
  return absl::StrFormat(
      "the median of %u runs is %+.2f %% of the baseline's "
      "of %u",
      run_count, 100 * effect, baseline_count);
}

SampleDecision TooFew(size_t run_count, size_t baseline_count) {
  SampleDecision decision;
  const bool is_baseline = FindLook(baseline_count) == nullptr;
  const size_t count = is_baseline ? baseline_count : run_count;
  decision.more_runs = std::max<int64_t>(
      1, kSampleSchedule[0] - static_cast<int64_t>(run_count));
  decision.reason = absl::StrCat(
      is_baseline ? "the baseline has " : "there are ", count,
      is_baseline ? " values" : " runs", ", and at least ", kSampleSchedule[0],
      " are needed to tell a change from noise");
  return decision;
}

}  // namespace

double ComputeMedian(absl::Span<const double> sample) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle]
                                : (sorted[middle - 1] + sorted[middle]) / 2;
}

SampleDecision JudgeRegression(absl::Span<const double> baseline,
                               absl::Span<const double> current,
                               const RegressionRule& rule) {
  const LookErrors* const look = FindLook(current.size());
  if (look == nullptr || FindLook(baseline.size()) == nullptr) {
    return TooFew(current.size(), baseline.size());
  }
  SampleDecision decision;
  const double effect = ComputeMedian(current) / ComputeMedian(baseline) - 1;
  const std::string seen =
      DescribeEffect(effect, current.size(), baseline.size());
  // Rejects if the growth exceeds the tolerance and is no accident.
  const double unchanged = RankTestPValue(baseline, current);
  if (effect > rule.tolerance && unchanged <= look->false_alarm_share) {
    decision.kind = SampleDecision::kReject;
    decision.reason = absl::StrFormat(
        "%s, more than the tolerance of %.4g %%; P = %.2g if nothing changed",
        seen, 100 * rule.tolerance, unchanged);
    return decision;
  }
  // Accepts if a growth by `detectable` can be excluded.
  const double grown =
      RankTestPValue(current, Grown(baseline, rule.detectable));
  if (grown <= look->missed_share) {
    decision.kind = SampleDecision::kAccept;
    decision.reason = absl::StrFormat("%s; P = %.2g if it had grown by %.4g %%",
                                      seen, grown, 100 * rule.detectable);
    return decision;
  }
  // Otherwise more runs are needed.
  decision.more_runs = RunsToNextLook(static_cast<int64_t>(current.size()));
  if (decision.more_runs == 0) {
    decision.more_runs = MoreRunsFor(grown, look->missed_share, current.size());
  }
  decision.reason = absl::StrFormat(
      "%s: neither that nothing changed (P = %.2g) nor that it grew by %.4g %% "
      "(P = %.2g) can be left out; %d more runs might tell",
      seen, unchanged, 100 * rule.detectable, grown, decision.more_runs);
  return decision;
}

}  // namespace footprint
