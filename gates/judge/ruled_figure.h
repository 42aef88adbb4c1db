// The result of one rule: a value, a limit, and whether the value keeps the
// limit.
//
//   if (figure.decision == ACCEPT) return;
//   Show(figure.measured, figure.limit, figure.explanation);
//
// Plain data that owns its strings. Thread-compatible.

#ifndef FOOTPRINT_GATES_JUDGE_RULED_FIGURE_H_
#define FOOTPRINT_GATES_JUDGE_RULED_FIGURE_H_

#include <cstdint>
#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct RuledFigure {
  RuleKind rule = RULE_KIND_UNSPECIFIED;
  // ACCEPT or REJECT, or why it could not be judged: INCONCLUSIVE,
  // ENVIRONMENT_MISMATCH or BAD_CONFIGURATION.
  Decision decision = INCONCLUSIVE;
  int64_t measured = 0;
  int64_t limit = 0;
  Determinism determinism = DETERMINISM_UNSPECIFIED;  // of the measured value
  // The size of a PREDICTED_MAXIMUM (Judgement.size).
  std::string size;
  // The beginning of a sentence: "0 of 59 runs exceed it, so ..."; empty if the
  // two numbers need no explanation.
  std::string explanation;
  // Advice after the explanation if nothing was decided: "; measure ...".
  std::string advice;
  // The edit that sets the limit to this figure, for the report's "accept it
  // with"; empty if the update command can make it.
  std::string change_to_accept;
};

}  // namespace footprint

// Tested by rules_test and law_judgement_test.

#endif  // FOOTPRINT_GATES_JUDGE_RULED_FIGURE_H_
