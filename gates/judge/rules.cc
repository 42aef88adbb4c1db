#include "footprint/gates/judge/rules.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "footprint/gates/judge/rule_list.h"

namespace footprint {
namespace {

constexpr JudgementWords kOtherWords = {RULE_KIND_UNSPECIFIED, "rule", "rule"};

// Completes the figures from `first` on, which judge samples. Gives
// ENVIRONMENT_MISMATCH if the samples are from different machines or
// environments.
void CompleteSampled(const MetricSamples& samples, size_t first,
                     std::vector<RuledFigure>* figures) {
  for (size_t i = first; i < figures->size(); ++i) {
    RuledFigure& figure = (*figures)[i];
    figure.determinism = STATISTICAL;
    if (samples.difference.empty()) continue;
    figure.decision = ENVIRONMENT_MISMATCH;
    figure.explanation = absl::StrCat(
        "its samples were taken under more than one ", samples.difference);
  }
}

// Returns whether a threshold has a rule of scope kFamily and one of another
// scope.
bool MixesFamily(const Threshold& threshold) {
  bool has_family = false;
  bool has_other = false;
  for (const Rule* rule : AllRules()) {
    if (!rule->IsIn(threshold)) continue;
    (rule->scope() == RuleScope::kFamily ? has_family : has_other) = true;
  }
  return has_family && has_other;
}

// Returns the fields of all rules, without the backticks of Markdown.
std::string JoinFields() {
  std::string fields;
  for (const Rule* rule : AllRules()) {
    absl::StrAppend(&fields, fields.empty() ? "" : ", ", rule->fields());
  }
  return absl::StrReplaceAll(fields, {{"`", ""}});
}

bool HasRule(const Threshold& threshold) {
  for (const Rule* rule : AllRules()) {
    if (rule->IsIn(threshold)) return true;
  }
  return false;
}

}  // namespace

absl::Span<const Rule* const> AllRules() {
#define FOOTPRINT_RULE_POINTER(Name) &Get##Name##Rule(),
  static const Rule* const kRules[] = {FOOTPRINT_RULES(FOOTPRINT_RULE_POINTER)};
#undef FOOTPRINT_RULE_POINTER
  return kRules;
}

const JudgementWords& FindWords(RuleKind kind) {
  for (const Rule* rule : AllRules()) {
    for (const JudgementWords& words : rule->words()) {
      if (words.kind == kind) return words;
    }
  }
  return kOtherWords;
}

RuleScope ComputeScope(const Threshold& threshold) {
  RuleScope scope = RuleScope::kMeasurement;
  for (const Rule* rule : AllRules()) {
    if (rule->scope() != RuleScope::kMeasurement && rule->IsIn(threshold)) {
      scope = rule->scope();
    }
  }
  return scope;
}

void JudgeByRules(const Threshold& threshold, RuleScope scope,
                  const RuleInput& input, std::vector<RuledFigure>* figures) {
  const size_t first = figures->size();
  for (const Rule* rule : AllRules()) {
    if (rule->scope() != scope || !rule->IsIn(threshold)) continue;
    rule->Judge(threshold, input, figures);
  }
  if (scope == RuleScope::kSamples) {
    CompleteSampled(*input.samples, first, figures);
  }
}

std::vector<RuleMistake> FindRuleMistakes(const Threshold& threshold,
                                          bool has_environment) {
  std::vector<RuleMistake> mistakes;
  for (const Rule* rule : AllRules()) {
    if (!rule->IsIn(threshold)) continue;
    rule->FindMistakes(threshold, has_environment, &mistakes);
  }
  if (MixesFamily(threshold)) {
    mistakes.push_back(
        {"scaling",
         "scaling judges a family of benchmarks, and the other rule each of "
         "them; give each a threshold of its own"});
  }
  if (!HasRule(threshold)) {
    mistakes.push_back(
        {"", absl::StrCat("has no rule; give one of ", JoinFields())});
  }
  return mistakes;
}

bool LimitsAbove(const Threshold& threshold) {
  for (const Rule* rule : AllRules()) {
    if (rule->IsIn(threshold) && rule->LimitsAbove(threshold)) return true;
  }
  return false;
}

bool AllowsOneValueOnly(const Threshold& threshold) {
  for (const Rule* rule : AllRules()) {
    if (rule->IsIn(threshold) && rule->AllowsOneValueOnly(threshold)) {
      return true;
    }
  }
  return false;
}

const char* WhyNeedsLimit(const Threshold& threshold) {
  for (const Rule* rule : AllRules()) {
    if (!rule->IsIn(threshold)) continue;
    if (rule->WhyNeedsLimit() != nullptr) return rule->WhyNeedsLimit();
  }
  return nullptr;
}

const Selector* FindBaseline(const Threshold& threshold) {
  for (const Rule* rule : AllRules()) {
    if (!rule->IsIn(threshold)) continue;
    const Selector* const baseline = rule->FindBaseline(threshold);
    if (baseline != nullptr) return baseline;
  }
  return nullptr;
}

std::string DescribeTerms(const Threshold& threshold) {
  std::string terms;
  for (const Rule* rule : AllRules()) {
    if (rule->IsIn(threshold)) terms += rule->DescribeTerms(threshold);
  }
  return terms;
}

NumberChange ComputeUpdate(const Threshold& threshold,
                           const MeasuredRange& range) {
  NumberChange change;
  for (const Rule* rule : AllRules()) {
    if (rule->IsIn(threshold)) rule->Update(threshold, range, &change);
  }
  return change;
}

std::string WriteRuleTable() {
  std::string table =
      "| field | holds if the measured value is | the update |\n"
      "|---|---|---|\n";
  for (const Rule* rule : AllRules()) {
    absl::StrAppend(&table, "| ", rule->fields(), " | ", rule->meaning(), " | ",
                    rule->update_policy(), " |\n");
  }
  return table;
}

}  // namespace footprint
