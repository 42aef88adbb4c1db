#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/rule_list.h"
#include "footprint/gates/judge/sample_figures.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/gates/statistics/budget_bound.h"

namespace footprint {
namespace {

constexpr JudgementWords kWords[] = {{BUDGET, "budget", "budget", true, false}};

// Returns whether the value is between 0 and 1; false for NaN.
bool IsShare(double value) { return value > 0 && value < 1; }

RuledFigure JudgeShare(const Threshold& threshold,
                       const MetricSamples& samples) {
  RuledFigure figure;
  figure.rule = BUDGET;
  const NumberField* const maximum = FindNumber(threshold, MAXIMUM);
  if (maximum == nullptr) {
    figure.decision = BAD_CONFIGURATION;
    figure.explanation = "a budget stands beside no maximum";
    return figure;
  }
  figure.limit = maximum->Get(threshold);
  FittingRuns runs;
  for (int64_t value : samples.values) {
    ++runs.run_count;
    runs.exceeding += value > figure.limit ? 1 : 0;
    figure.measured =
        runs.run_count == 1 ? value : std::max(figure.measured, value);
  }
  const SampleDecision decision = JudgeBudget(
      runs, {threshold.budget().share(), threshold.budget().confidence()});
  figure.decision = ToDecision(decision.kind);
  figure.explanation = decision.reason;
  figure.change_to_accept =
      absl::StrCat(maximum->name, ": ", figure.measured, ", or more");
  return figure;
}

class SampledBudgetRule : public Rule {
 public:
  const char* name() const override { return "budget"; }
  const char* fields() const override {
    return "`max_bytes` beside `budget { share confidence }`";
  }
  const char* meaning() const override {
    return "at most this in a share of all runs, as samples show";
  }
  const char* update_policy() const override {
    return "nothing: a few runs do not show what a share of all runs keeps";
  }
  RuleScope scope() const override { return RuleScope::kSamples; }
  absl::Span<const JudgementWords> words() const override { return kWords; }

  bool IsIn(const Threshold& threshold) const override {
    return threshold.has_budget();
  }

  void FindMistakes(const Threshold& threshold, bool /*has_environment*/,
                    std::vector<RuleMistake>* mistakes) const override {
    const Budget& budget = threshold.budget();
    if (FindNumber(threshold, MAXIMUM) == nullptr ||
        FindNumber(threshold, MINIMUM) != nullptr) {
      mistakes->push_back(
          {"budget",
           "budget says how many runs keep a maximum: give max_bytes or "
           "max_count beside it, and no minimum"});
    }
    if (!IsShare(budget.share()) || !IsShare(budget.confidence())) {
      mistakes->push_back(
          {"budget",
           absl::StrCat("budget has the share ", budget.share(),
                        " and the confidence ", budget.confidence(),
                        "; both lie between 0 and 1, for example share: 0.95 "
                        "confidence: 0.95, which 59 runs can show")});
    }
  }

  void Judge(const Threshold& threshold, const RuleInput& input,
             std::vector<RuledFigure>* figures) const override {
    figures->push_back(JudgeShare(threshold, *input.samples));
  }

  std::string DescribeTerms(const Threshold& threshold) const override {
    return absl::StrCat(" share ", RatioText(threshold.budget().share()),
                        " confidence ",
                        RatioText(threshold.budget().confidence()));
  }
};

}  // namespace

const Rule& GetBudgetRule() {
  static const SampledBudgetRule rule;
  return rule;
}

}  // namespace footprint
