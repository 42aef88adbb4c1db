// Lists all kinds of rules.
//
//   const Rule& rule = GetMaximumRule();
//
// Each function is defined in the file of its rule (maximum_rule.cc) and
// returns an object that lives for ever. Thread-safe. Only rules.cc and the
// rules themselves need this; other code uses AllRules (rules.h).

#ifndef FOOTPRINT_GATES_JUDGE_RULE_LIST_H_
#define FOOTPRINT_GATES_JUDGE_RULE_LIST_H_

#include "footprint/gates/judge/rule.h"

// The list of rules, in the order in which documents and histories name them.
#define FOOTPRINT_RULES(RULE) \
  RULE(Maximum)               \
  RULE(Exact)                 \
  RULE(Minimum)               \
  RULE(Ratio)                 \
  RULE(Budget)                \
  RULE(Regression)            \
  RULE(Scaling)

namespace footprint {

#define FOOTPRINT_DECLARE_RULE(Name) const Rule& Get##Name##Rule();
FOOTPRINT_RULES(FOOTPRINT_DECLARE_RULE)
#undef FOOTPRINT_DECLARE_RULE

}  // namespace footprint

// Tested by rules_test.

#endif  // FOOTPRINT_GATES_JUDGE_RULE_LIST_H_
