#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/rule_list.h"
#include "footprint/gates/judge/sample_figures.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/statistics/distributions.h"
#include "footprint/gates/statistics/regression_decision.h"

namespace footprint {
namespace {

// The fewest sittings with which a baseline can reject.
constexpr size_t kLeastSittings = 3;

constexpr JudgementWords kWords[] = {
    {REGRESSION, "baseline", "baseline", true, false}};

std::vector<double> Doubles(absl::Span<const int64_t> values) {
  return std::vector<double>(values.begin(), values.end());
}

// Returns the number of values of each sitting. Without stated sittings, all
// values are of one.
std::vector<int> CountSittings(const SampleBaseline& baseline) {
  if (baseline.sittings_size() == 0) return {baseline.values_size()};
  return {baseline.sittings().begin(), baseline.sittings().end()};
}

// Returns the `baseline` block, in text format, for `regression`: the runs of
// `before`, which must be of the same machine, and those of `samples`.
std::string BaselineText(const SampleBaseline& before,
                         const MetricSamples& samples) {
  std::vector<int64_t> values(before.values().begin(), before.values().end());
  values.insert(values.end(), samples.values.begin(), samples.values.end());
  std::vector<int> sittings;
  if (before.values_size() > 0) sittings = CountSittings(before);
  sittings.push_back(static_cast<int>(samples.values.size()));
  return absl::StrCat("baseline { kernel: \"", absl::CEscape(samples.kernel),
                      "\" cpu_model: \"", absl::CEscape(samples.cpu_model),
                      "\" values: [", absl::StrJoin(values, ", "),
                      "] sittings: [", absl::StrJoin(sittings, ", "), "] }");
}

// Returns the share of the mean of the sittings' medians by which one more
// sitting lies above it with a probability of 0.001. This is the upper
// prediction bound of one more value of a normal distribution. Returns 0 for
// fewer than kLeastSittings.
double SpreadOfSittings(const SampleBaseline& baseline) {
  const std::vector<int> sittings = CountSittings(baseline);
  if (sittings.size() < kLeastSittings) return 0;
  constexpr double kFalseAlarmShare = 0.001;
  std::vector<double> medians;
  auto begin = baseline.values().begin();
  for (const int count : sittings) {
    medians.push_back(ComputeMedian(std::vector<double>(begin, begin + count)));
    begin += count;
  }
  const auto count = static_cast<double>(medians.size());
  const double mean =
      std::accumulate(medians.begin(), medians.end(), 0.0) / count;
  double squares = 0;
  for (const double median : medians)
    squares += (median - mean) * (median - mean);
  return StudentUpperQuantile(static_cast<int>(medians.size()) - 1,
                              kFalseAlarmShare) *
         std::sqrt(squares / (count - 1) * (1 + 1 / count)) / mean;
}

// Returns why the samples cannot be compared with the baseline; empty if they
// can.
std::string WhyForeign(const SampleBaseline& baseline,
                       const MetricSamples& samples) {
  if (baseline.kernel() != samples.kernel) {
    return absl::StrCat("the baseline is of kernel \"", baseline.kernel(),
                        "\", and this is \"", samples.kernel, "\"");
  }
  if (baseline.cpu_model() != samples.cpu_model) {
    return absl::StrCat("the baseline is of a processor \"",
                        baseline.cpu_model(), "\", and this is \"",
                        samples.cpu_model, "\"");
  }
  return "";
}

RuledFigure JudgeGrowth(const Regression& rule, const MetricSamples& samples) {
  RuledFigure figure;
  figure.rule = REGRESSION;
  figure.change_to_accept = BaselineText(SampleBaseline(), samples);
  const std::vector<double> current = Doubles(samples.values);
  const std::vector<double> baseline(rule.baseline().values().begin(),
                                     rule.baseline().values().end());
  if (!current.empty()) figure.measured = std::llround(ComputeMedian(current));
  const double spread = SpreadOfSittings(rule.baseline());
  if (!baseline.empty()) {
    figure.limit =
        std::llround(ComputeMedian(baseline) * (1 + rule.tolerance() + spread));
  }
  // A baseline from another machine cannot be compared with these samples.
  if (rule.has_baseline() && !WhyForeign(rule.baseline(), samples).empty()) {
    figure.decision = ENVIRONMENT_MISMATCH;
    figure.explanation = WhyForeign(rule.baseline(), samples);
    return figure;
  }
  // Sittings differ even if nothing changed, so their spread adds to the
  // tolerance.
  const SampleDecision decision =
      JudgeRegression(baseline, current,
                      {rule.tolerance() + spread, rule.detectable() + spread});
  figure.decision = ToDecision(decision.kind);
  figure.explanation = decision.reason;
  // Too few sittings do not show that spread, so they cannot reject.
  const size_t sitting_count = CountSittings(rule.baseline()).size();
  if (figure.decision == REJECT && sitting_count < kLeastSittings) {
    figure.decision = INCONCLUSIVE;
    figure.change_to_accept = BaselineText(rule.baseline(), samples);
    absl::StrAppend(
        &figure.explanation,
        "; but runs of one sitting lie above those of "
        "another although nothing changed, and the baseline has ",
        sitting_count, sitting_count == 1 ? " sitting" : " sittings",
        " of the ", kLeastSittings,
        " needed to show by how much: measure the old program again, "
        "another day, and put its runs into the baseline, too");
  }
  return figure;
}

class SampledRegressionRule : public Rule {
 public:
  const char* name() const override { return "regression"; }
  const char* fields() const override {
    return "`regression { tolerance detectable baseline }`";
  }
  const char* meaning() const override {
    return "no higher than a baseline of runs, as samples show";
  }
  const char* update_policy() const override {
    return "nothing: the report says which baseline would accept the runs";
  }
  RuleScope scope() const override { return RuleScope::kSamples; }
  absl::Span<const JudgementWords> words() const override { return kWords; }

  bool IsIn(const Threshold& threshold) const override {
    return threshold.has_regression();
  }

  void FindMistakes(const Threshold& threshold, bool has_environment,
                    std::vector<RuleMistake>* mistakes) const override {
    const Regression& rule = threshold.regression();
    const auto add = [mistakes](const std::string& message) {
      mistakes->push_back({"regression", message});
    };
    const bool has_minimum = FindNumber(threshold, MINIMUM) != nullptr;
    const bool has_limit = FindLimit(threshold) != nullptr ||
                           threshold.has_max_ratio() || has_minimum;
    if (has_limit && !threshold.has_budget()) {
      add("regression stands beside a rule that is not over samples; give "
          "the other a threshold of its own, or a budget");
    }
    // The negated comparisons also find NaN.
    if (!(rule.tolerance() >= 0) || !(rule.detectable() > rule.tolerance()) ||
        !std::isfinite(rule.detectable())) {
      add(absl::StrCat("regression has the tolerance ", rule.tolerance(),
                       " and the detectable growth ", rule.detectable(),
                       "; the second must be above the first, and the first "
                       "must not be below zero, for example tolerance: 0.005 "
                       "detectable: 0.02"));
    }
    // The sittings must divide the baseline's values. A count below 1 makes the
    // sum too large, so it is a mistake, too.
    int64_t counted = 0;
    for (int count : rule.baseline().sittings()) {
      counted += count > 0 ? count : rule.baseline().values_size() + 1;
    }
    if (rule.baseline().sittings_size() > 0 &&
        counted != rule.baseline().values_size()) {
      add(absl::StrCat(
          "regression has a baseline with ", rule.baseline().values_size(),
          " values, and sittings that count others; write how many "
          "values each sitting gave"));
    }
    for (int64_t value : rule.baseline().values()) {
      if (value > 0) continue;
      add(absl::StrCat("regression has a baseline with the value ", value,
                       ", and a growth is a share of "
                       "values above zero"));
      break;
    }
    if (rule.has_baseline() && !has_environment) {
      add("regression has a baseline in a file without an environment: samples "
          "hold where they were taken only; move it to a file that says "
          "environment { ... }");
    }
  }

  const char* WhyNeedsLimit() const override {
    return "has a regression rule, which looks at the median of the runs, and "
           "no limit of the highest run: add max_bytes and budget { share: "
           "0.95 confidence: 0.95 } beside it, or a maximum in a threshold of "
           "its own";
  }

  void Judge(const Threshold& threshold, const RuleInput& input,
             std::vector<RuledFigure>* figures) const override {
    RuledFigure figure = JudgeGrowth(threshold.regression(), *input.samples);
    figure.advice =
        absl::StrCat("; these runs as the baseline: ", figure.change_to_accept);
    figures->push_back(figure);
  }

  std::string DescribeTerms(const Threshold& threshold) const override {
    const Regression& rule = threshold.regression();
    return absl::StrCat(" tolerance ", RatioText(rule.tolerance()),
                        " detectable ", RatioText(rule.detectable()));
  }
};

}  // namespace

const Rule& GetRegressionRule() {
  static const SampledRegressionRule rule;
  return rule;
}

}  // namespace footprint
