// A trial's result as the database keeps it: a verdict like every gate's.
//
//   StoredResult kept = KeptTrial(result, ExitStatusOf(result));
//   kept.verdict().decision();
//
// The whole process's peak against the budget is one judgement more beside
// those of the threshold files; any other cause is a problem. The decision is
// that of ExitStatusOf(result). Each run's peak and time are told in remarks.
//
// Pure, thread-safe; the result copies what it names. Memory: the profile once
// more.

#ifndef FOOTPRINT_GATES_SERVER_KEPT_TRIAL_H_
#define FOOTPRINT_GATES_SERVER_KEPT_TRIAL_H_

#include "footprint/gates/server/stored_result.pb.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

// `decision` is the trial's exit status.
StoredResult KeptTrial(const TrialResult& result, int decision);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_KEPT_TRIAL_H_
