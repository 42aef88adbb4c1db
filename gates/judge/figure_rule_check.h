// Mistakes in a threshold's rules over samples and over laws.
//
//   for (const RuleMistake& mistake : CheckFigureRules(threshold)) {
//     Report(mistake);
//   }
//
// Pure; thread-safe. Memory: the mistakes.

#ifndef FOOTPRINT_GATES_JUDGE_FIGURE_RULE_CHECK_H_
#define FOOTPRINT_GATES_JUDGE_FIGURE_RULE_CHECK_H_

#include <string>
#include <vector>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

struct RuleMistake {
  const char* field;  // of Threshold: where it stands
  std::string message;
};

// In the order of the schema; a threshold without such rules has none.
std::vector<RuleMistake> CheckFigureRules(const Threshold& threshold);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_FIGURE_RULE_CHECK_H_
