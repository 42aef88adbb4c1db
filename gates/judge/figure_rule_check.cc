#include "footprint/gates/judge/figure_rule_check.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/judge/scaling_rule.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

// Written so that NaN fails too.
bool IsShare(double value) { return value > 0 && value < 1; }

class FigureRuleChecker {
 public:
  explicit FigureRuleChecker(const Threshold& threshold)
      : threshold_(threshold) {}

  std::vector<RuleMistake> Run() {
    if (threshold_.has_budget()) CheckBudget(threshold_.budget());
    if (threshold_.has_regression()) CheckRegression(threshold_.regression());
    if (threshold_.has_scaling()) CheckScaling(threshold_.scaling());
    return std::move(mistakes_);
  }

 private:
  void Add(const char* field, const std::string& message) {
    mistakes_.push_back({field, message});
  }

  void CheckBudget(const Budget& budget) {
    if (FindNumber(threshold_, MAXIMUM) == nullptr ||
        FindNumber(threshold_, MINIMUM) != nullptr) {
      Add("budget",
          "budget says how many runs keep a maximum: give max_bytes or "
          "max_count beside it, and no minimum");
    }
    if (!IsShare(budget.share()) || !IsShare(budget.confidence())) {
      Add("budget",
          absl::StrCat("budget has the share ", budget.share(),
                       " and the confidence ", budget.confidence(),
                       "; both lie between 0 and 1, for example share: 0.95 "
                       "confidence: 0.95, which 59 runs can show"));
    }
  }

  void CheckRegression(const Regression& rule) {
    const bool has_minimum = FindNumber(threshold_, MINIMUM) != nullptr;
    const bool has_limit = FindLimit(threshold_) != nullptr ||
                           threshold_.has_max_ratio() || has_minimum;
    if (has_limit && !threshold_.has_budget()) {
      Add("regression",
          "regression stands beside a rule that is not over samples; give "
          "the other a threshold of its own, or a budget");
    }
    if (!(rule.tolerance() >= 0) || !(rule.detectable() > rule.tolerance()) ||
        !std::isfinite(rule.detectable())) {
      Add("regression",
          absl::StrCat("regression has the tolerance ", rule.tolerance(),
                       " and the detectable growth ", rule.detectable(),
                       "; the second is above the first, and that is not "
                       "below zero, for example tolerance: 0.005 detectable: "
                       "0.02"));
    }
    int64_t counted = 0;
    for (int count : rule.baseline().sittings()) {
      counted += count > 0 ? count : rule.baseline().values_size() + 1;
    }
    if (rule.baseline().sittings_size() > 0 &&
        counted != rule.baseline().values_size()) {
      Add("regression",
          absl::StrCat(
              "regression has a baseline with ", rule.baseline().values_size(),
              " values, and sittings that count others; write how many "
              "values each sitting gave"));
    }
    for (int64_t value : rule.baseline().values()) {
      if (value > 0) continue;
      Add("regression",
          absl::StrCat("regression has a baseline with the value ", value,
                       ", and a growth is a share of "
                       "values above zero"));
      return;
    }
  }

  void CheckScaling(const Scaling& scaling) {
    if (UnitOfMetric(threshold_.metric()) != MetricUnit::kBytes) {
      Add("metric", absl::StrCat(SchemaNameOfMetric(threshold_.metric()),
                                 " is not counted in bytes, as what scaling "
                                 "judges is"));
    }
    const std::set<std::string> names(scaling.argument().begin(),
                                      scaling.argument().end());
    if (names.empty() || names.count("") > 0 ||
        static_cast<int>(names.size()) != scaling.argument_size()) {
      Add("scaling",
          "scaling names no argument, or one of them twice; name those that "
          "bytes grow with: argument: \"rows\"");
    }
    if (!scaling.has_max_exponent() && !scaling.has_max_bytes_per_unit() &&
        !scaling.has_max_intercept() && scaling.at_size() == 0) {
      Add("scaling",
          "scaling has no limit; give max_exponent, max_bytes_per_unit, "
          "max_intercept or at { ... }");
    }
    CheckLimit("max_exponent", scaling.max_exponent());
    CheckLimit("max_bytes_per_unit", scaling.max_bytes_per_unit());
    CheckLimit("max_intercept", scaling.max_intercept());
    for (const SizeLimit& limit : scaling.at()) CheckSize(names, limit);
  }

  void CheckLimit(absl::string_view name, double limit) {
    if (limit >= 0 && std::isfinite(limit)) return;
    Add("scaling", absl::StrCat("scaling.", name, " is ", limit,
                                "; it is a number of at least zero"));
  }

  void CheckSize(const std::set<std::string>& names, const SizeLimit& limit) {
    std::set<std::string> given;
    for (const Argument& argument : limit.argument()) {
      given.insert(argument.name());
      if (ParseSize(argument.value()).has_value()) continue;
      Add("scaling", absl::StrCat("scaling.at gives \"", argument.name(),
                                  "\" the value \"", argument.value(),
                                  "\", which is no number above zero"));
    }
    if (given != names ||
        static_cast<int>(given.size()) != limit.argument_size()) {
      Add("scaling",
          "scaling.at gives each argument of the law once, and no other");
    }
    if (limit.max_bytes() <= 0) {
      Add("scaling", absl::StrCat("scaling.at has max_bytes ",
                                  limit.max_bytes(), "; it is above zero"));
    }
  }

  const Threshold& threshold_;
  std::vector<RuleMistake> mistakes_;
};

}  // namespace

std::vector<RuleMistake> CheckFigureRules(const Threshold& threshold) {
  return FigureRuleChecker(threshold).Run();
}

}  // namespace footprint
