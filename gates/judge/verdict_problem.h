// Adds a problem to a verdict: why something could not be judged.
//
//   AddProblem(BAD_CONFIGURATION, "t.textproto:12", "selects nothing",
//              &verdict);
//
// Thread-compatible. Memory: the verdict owns copies of both texts.

#ifndef FOOTPRINT_GATES_JUDGE_VERDICT_PROBLEM_H_
#define FOOTPRINT_GATES_JUDGE_VERDICT_PROBLEM_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

// `location` is a threshold's file and line, or a profile's label.
inline void AddProblem(Decision decision, const std::string& location,
                       const std::string& message, Verdict* verdict) {
  Problem* const problem = verdict->add_problems();
  problem->set_decision(decision);
  problem->set_location(location);
  problem->set_message(message);
}

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_VERDICT_PROBLEM_H_
