// One rule held against figures that are more than one value: samples, or the
// benchmarks of a law.
//
//   if (figure.decision == ACCEPT) return;
//   Show(figure.measured, figure.limit, figure.explanation);
//
// Plain data: its strings are its own memory. Thread-compatible.

#ifndef FOOTPRINT_GATES_JUDGE_RULED_FIGURE_H_
#define FOOTPRINT_GATES_JUDGE_RULED_FIGURE_H_

#include <cstdint>
#include <string>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

struct RuledFigure {
  RuleKind rule = RULE_KIND_UNSPECIFIED;
  // ACCEPT or REJECT; else why it could not be judged: INCONCLUSIVE,
  // ENVIRONMENT_MISMATCH or BAD_CONFIGURATION.
  Decision decision = INCONCLUSIVE;
  int64_t measured = 0;
  int64_t limit = 0;
  // A sentence without its end: "0 of 59 runs exceed it, so ...".
  std::string explanation;
  // Change that makes the limit that of these figures, for `accept it with`.
  std::string change_to_accept;
};

}  // namespace footprint

// Tested by sampled_rule_test and scaling_rule_test.

#endif  // FOOTPRINT_GATES_JUDGE_RULED_FIGURE_H_
