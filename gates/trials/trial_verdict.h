// The verdict of a trial: one like every gate's, so that every report and the
// server can show it.
//
//   *result.mutable_verdict() = MakeTrialVerdict(result, by_thresholds);
//
// The whole process's peak against the budget is one judgement, beside those of
// the threshold files; a cause that has nothing to do with the budget is a
// problem. What each run took, where the peak was and what the program said
// last are remarks.
//
// Pure functions, thread-safe; the results copy what they name. Memory and
// time: linear in the result.

#ifndef FOOTPRINT_GATES_TRIALS_TRIAL_VERDICT_H_
#define FOOTPRINT_GATES_TRIALS_TRIAL_VERDICT_H_

#include <string>

#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

// Returns the label by which a bundle is judged: its manifest's, or one that is
// made of its entry.
std::string LabelOfBundle(const BundleManifest& manifest);

// Returns what follows from a cause, which is set. `by_thresholds`: what the
// threshold files decided.
Decision DecisionOfCause(TrialCause cause, Decision by_thresholds);

// `by_thresholds`: of the threshold files; empty without any. Reads all of
// `result` but its verdict.
Verdict MakeTrialVerdict(const TrialResult& result,
                         const Verdict& by_thresholds);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_TRIAL_VERDICT_H_
