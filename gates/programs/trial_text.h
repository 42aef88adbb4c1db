// The result of a trial for a terminal: the reason, a line for each run, the
// heap's peak and its first places, and the verdict.
//
//   std::fputs(TrialText(*result).c_str(), stdout);
//
//   train: needs 20.0 MiB (20,971,520 B) of the budget of ...
//     measured: cgroup peak ..., limit 128 MiB, status 0, 12345 us and ...
//   Verdict: ACCEPT
//
// Text of the tried program is escaped. Thread-safe; the caller owns the text.
// Memory and time: linear in the result. No errors.

#ifndef FOOTPRINT_GATES_PROGRAMS_TRIAL_TEXT_H_
#define FOOTPRINT_GATES_PROGRAMS_TRIAL_TEXT_H_

#include <string>

#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

std::string TrialText(const TrialResult& result);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_TRIAL_TEXT_H_
