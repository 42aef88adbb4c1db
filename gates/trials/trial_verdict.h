// Makes the verdict of a trial, of the same form as every gate's, so that every
// report and the server can show it.
//
//   *result.mutable_verdict() = MakeTrialVerdict(result, by_thresholds);
//
// The judgements are those of the threshold files, and that of the whole
// process's peak by the budget. A cause that has nothing to do with the budget
// is a problem. The remarks are what each run needed, where the peak was, and
// the program's last output.
//
// Pure functions, thread-safe; the results own copies. Memory and time: linear
// in the result.

#ifndef FOOTPRINT_GATES_TRIALS_TRIAL_VERDICT_H_
#define FOOTPRINT_GATES_TRIALS_TRIAL_VERDICT_H_

#include <string>

#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

// Version of this judge's rules, apart from thresholds and host. It is raised
// when the same bundle could get another verdict.
inline constexpr int kJudgeVersion = 3;

// Returns the label of a bundle: its manifest's, or one made from its entry.
std::string LabelOfBundle(const BundleManifest& manifest);

// Returns the decision that follows from a cause, which must be set.
// `by_thresholds` is the decision of the threshold files.
Decision DecisionOfCause(TrialCause cause, Decision by_thresholds);

// Returns the verdict. `by_thresholds` is that of the threshold files, and
// empty if there are no such files. Reads all of `result` except its verdict.
Verdict MakeTrialVerdict(const TrialResult& result,
                         const Verdict& by_thresholds);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_TRIAL_VERDICT_H_
