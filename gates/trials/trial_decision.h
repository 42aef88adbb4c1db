// Decides a trial by its runs. DecideMeasuredRun and DecideProvedRun read a run
// that has ended. If that run settles the trial, they set the cause and the
// reason in the trial's result.
//
//   DecideMeasuredRun(run, limits, &result);
//   if (result.cause() == TRIAL_CAUSE_UNSPECIFIED) ...  // it may fit
//
// Changes only `result`; thread-compatible. trial_verdict.h makes the verdict
// from the result.

#ifndef FOOTPRINT_GATES_TRIALS_TRIAL_DECISION_H_
#define FOOTPRINT_GATES_TRIALS_TRIAL_DECISION_H_

#include <cstdint>
#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/trials/trial.pb.h"
#include "footprint/gates/trials/trial_limits.h"

namespace footprint {

// Returns the highest of the peaks that were measured for the run, in bytes.
int64_t FindPeak(const TrialRun& run);

// Returns whether the program ended by itself, with status 0.
bool HasSucceeded(const TrialRun& run);

// Returns how the program ended, as the end of a sentence: "ended with status
// 2".
std::string DescribeEnd(const TrialRun& run);

// Sets the cause and the reason, and changes nothing else.
void Decide(TrialCause cause, std::string reason, TrialResult* result);

// Decides by a run under the measuring limit, and keeps its peak in the result.
// Leaves the cause unspecified if the program may fit its budget.
void DecideMeasuredRun(const TrialRun& run, const TrialLimits& limits,
                       TrialResult* result);

// Decides by a run under the budget itself, and keeps its peak in the result if
// it is higher. Always sets a cause.
void DecideProvedRun(const TrialRun& run, const TrialLimits& limits,
                     TrialResult* result);

// Replaces the cause FITS by the thresholds' decision, unless that is ACCEPT.
// Changes no other cause, so that thresholds never accept what the runs
// rejected. `doubt` says why the profile cannot be judged; empty if it can.
void DecideByThresholds(Decision decision, const std::string& doubt,
                        TrialResult* result);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_TRIAL_DECISION_H_
