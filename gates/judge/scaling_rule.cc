#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/law_judgement.h"
#include "footprint/gates/judge/rule_list.h"
#include "footprint/gates/judge/threshold_numbers.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

constexpr JudgementWords kWords[] = {
    {MAXIMUM_EXPONENT, "max exponent", "max exponent", false, false},
    {MAXIMUM_BYTES_PER_UNIT, "max per unit", "max per unit"},
    {MAXIMUM_INTERCEPT, "max constant", "max constant"},
    {PREDICTED_MAXIMUM, "max as predicted", "max as predicted"}};

void CheckLimit(const char* name, double limit,
                std::vector<RuleMistake>* mistakes) {
  if (limit >= 0 && std::isfinite(limit)) return;
  mistakes->push_back(
      {"scaling", absl::StrCat("scaling.", name, " is ", limit,
                               "; it is a number of at least zero")});
}

// Checks the limit at one size, for a law with arguments of these names.
void CheckSize(const std::set<std::string>& names, const SizeLimit& limit,
               std::vector<RuleMistake>* mistakes) {
  std::set<std::string> given;
  for (const Argument& argument : limit.argument()) {
    given.insert(argument.name());
    if (ParseSize(argument.value()).has_value()) continue;
    mistakes->push_back(
        {"scaling", absl::StrCat("scaling.at gives \"", argument.name(),
                                 "\" the value \"", argument.value(),
                                 "\", which is not a number above zero")});
  }
  if (given != names ||
      static_cast<int>(given.size()) != limit.argument_size()) {
    mistakes->push_back(
        {"scaling",
         "scaling.at gives each argument of the law once, and no other"});
  }
  if (limit.max_bytes() <= 0) {
    mistakes->push_back(
        {"scaling", absl::StrCat("scaling.at has max_bytes ", limit.max_bytes(),
                                 "; it is above zero")});
  }
}

class ScalingRule : public Rule {
 public:
  const char* name() const override { return "scaling law"; }
  const char* fields() const override { return "`scaling { argument ... }`"; }
  const char* meaning() const override {
    return "the law that a family of benchmarks follows";
  }
  const char* update_policy() const override {
    return "nothing: the report says which limit would accept the law";
  }
  RuleScope scope() const override { return RuleScope::kFamily; }
  absl::Span<const JudgementWords> words() const override { return kWords; }

  bool IsIn(const Threshold& threshold) const override {
    return threshold.has_scaling();
  }

  void FindMistakes(const Threshold& threshold, bool /*has_environment*/,
                    std::vector<RuleMistake>* mistakes) const override {
    const Scaling& scaling = threshold.scaling();
    if (UnitOfMetric(threshold.metric()) != MetricUnit::kBytes) {
      mistakes->push_back(
          {"metric", absl::StrCat(SchemaNameOfMetric(threshold.metric()),
                                  " is not counted in bytes, as what scaling "
                                  "judges is")});
    }
    const std::set<std::string> names(scaling.argument().begin(),
                                      scaling.argument().end());
    if (names.empty() || names.count("") > 0 ||
        static_cast<int>(names.size()) != scaling.argument_size()) {
      mistakes->push_back(
          {"scaling",
           "scaling names no argument, or one of them twice; name those that "
           "bytes grow with: argument: \"rows\""});
    }
    if (!scaling.has_max_exponent() && !scaling.has_max_bytes_per_unit() &&
        !scaling.has_max_intercept() && scaling.at_size() == 0) {
      mistakes->push_back(
          {"scaling",
           "scaling has no limit; give max_exponent, max_bytes_per_unit, "
           "max_intercept or at { ... }"});
    }
    CheckLimit("max_exponent", scaling.max_exponent(), mistakes);
    CheckLimit("max_bytes_per_unit", scaling.max_bytes_per_unit(), mistakes);
    CheckLimit("max_intercept", scaling.max_intercept(), mistakes);
    for (const SizeLimit& limit : scaling.at()) {
      CheckSize(names, limit, mistakes);
    }
  }

  // A maximum exponent alone does not limit the constant.
  bool LimitsAbove(const Threshold& threshold) const override {
    const Scaling& scaling = threshold.scaling();
    return scaling.at_size() > 0 ||
           (scaling.has_max_bytes_per_unit() && scaling.has_max_intercept());
  }

  void Judge(const Threshold& threshold, const RuleInput& input,
             std::vector<RuledFigure>* figures) const override {
    for (RuledFigure& figure : JudgeScaling(threshold.scaling(), input.sizes)) {
      figure.determinism = input.determinism;
      figures->push_back(std::move(figure));
    }
  }

  std::string DescribeTerms(const Threshold& threshold) const override {
    std::string terms;
    const Scaling& scaling = threshold.scaling();
    if (scaling.has_max_exponent()) {
      absl::StrAppend(&terms, " max_exponent ",
                      RatioText(scaling.max_exponent()));
    }
    if (scaling.has_max_bytes_per_unit()) {
      absl::StrAppend(&terms, " max_bytes_per_unit ",
                      RatioText(scaling.max_bytes_per_unit()));
    }
    if (scaling.has_max_intercept()) {
      absl::StrAppend(&terms, " max_intercept ",
                      RatioText(scaling.max_intercept()));
    }
    for (const SizeLimit& limit : scaling.at()) {
      absl::StrAppend(&terms, " at");
      for (const Argument& argument : limit.argument()) {
        absl::StrAppend(&terms, " ", argument.name(), ":", argument.value());
      }
      absl::StrAppend(&terms, " ", limit.max_bytes());
    }
    return terms;
  }
};

}  // namespace

const Rule& GetScalingRule() {
  static const ScalingRule rule;
  return rule;
}

}  // namespace footprint
