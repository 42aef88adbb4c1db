// The rules of a threshold, all kinds together.
//
//   const RuleScope scope = ComputeScope(threshold);
//   JudgeByRules(threshold, scope, input, &figures);
//
// Pure functions, thread-safe. What they return owns its memory. Time: a few
// calls for each kind of rule; a family as law_judgement.h, samples as
// gates/statistics.

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

// Returns the words for judgements of `kind`; those of "rule" for a kind that
// no rule makes.
const JudgementWords& FindWords(RuleKind kind);

// Returns what the rules of a threshold are held against. Rules of a threshold
// without mistakes have one scope, but for a maximum beside a budget, which is
// what the budget judges by.
RuleScope ComputeScope(const Threshold& threshold);

// Appends the figures of all rules of the threshold that have this scope.
// Samples of more than one machine give ENVIRONMENT_MISMATCH.
void JudgeByRules(const Threshold& threshold, RuleScope scope,
                  const RuleInput& input, std::vector<RuledFigure>* figures);

// Returns the mistakes of all rules of the threshold, and those of rules that
// do not go together.
std::vector<RuleMistake> FindRuleMistakes(const Threshold& threshold,
                                          bool has_environment);

// These return what the rule of the threshold says for which it is not trivial:
// see the members of Rule.
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
