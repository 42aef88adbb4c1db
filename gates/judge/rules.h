// Applies all kinds of rules of a threshold.
//
//   const RuleScope scope = ComputeScope(threshold);
//   JudgeByRules(threshold, scope, input, &figures);
//
// Pure functions, thread-safe. Their results own their memory. Time: a few
// calls for each kind of rule; for a family that of law_judgement.h, for
// samples that of gates/statistics.

#ifndef FOOTPRINT_GATES_JUDGE_RULES_H_
#define FOOTPRINT_GATES_JUDGE_RULES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/rule.h"
#include "footprint/gates/judge/ruled_figure.h"

namespace footprint {

// Returns every kind of rule, in the order of rule_list.h.
absl::Span<const Rule* const> AllRules();

// Returns the words for judgements of `kind`. For a kind that no rule makes,
// returns general words.
const JudgementWords& FindWords(RuleKind kind);

// Returns what the rules of a threshold judge. The rules of a threshold without
// mistakes have one scope, except for a maximum with a budget, which the budget
// judges.
RuleScope ComputeScope(const Threshold& threshold);

// Appends the figures of all rules of the threshold that have this scope.
// Samples of more than one machine or environment give ENVIRONMENT_MISMATCH.
// For kSamples, `input.samples` must not be null.
void JudgeByRules(const Threshold& threshold, RuleScope scope,
                  const RuleInput& input, std::vector<RuledFigure>* figures);

// Returns the mistakes of all rules of the threshold and the rules that
// contradict each other, or that the threshold has no rule.
std::vector<RuleMistake> FindRuleMistakes(const Threshold& threshold,
                                          bool has_environment);

// These combine the members of Rule that have the same names over all rules of
// the threshold.
bool LimitsAbove(const Threshold& threshold);
bool AllowsOneValueOnly(const Threshold& threshold);
const char* WhyNeedsLimit(const Threshold& threshold);
const Selector* FindBaseline(const Threshold& threshold);
std::string DescribeTerms(const Threshold& threshold);
NumberChange ComputeUpdate(const Threshold& threshold,
                           const MeasuredRange& range);

// Returns the table of all rules for gates/README.md, in markdown.
std::string WriteRuleTable();

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_RULES_H_
