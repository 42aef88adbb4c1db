// Tries a bundle: runs it in a sandbox, and says whether it fits its budget.
//
//   TrialRequest request;
//   request.set_bundle_path("model.bundle");
//   request.set_work_folder("/var/lib/footprint/trials/17");
//   request.set_budget_bytes(200 << 20);
//   absl::StatusOr<TrialResult> result = RunTrial(request);
//   // result->verdict(), result->reason()
//
// Three runs, each in a new sandbox: as it is, measured from outside; as it is,
// under the budget itself; and under the profiler, to explain. The first two
// decide, and cannot tell themselves apart. The first is made again where page
// cache may be in its peak. Whatever a bundle does is a
// verdict; an error is the host's or the request's.
//
// Thread-safe: trials in several threads and processes do not disturb each
// other, but for processor time. Owns nothing, leaves no process, mount,
// cgroup or file.
// Memory: some 20 MiB here, and the bundle's limits in its cgroup. Time: the
// runs', and some milliseconds. Errors: kFailedPrecondition: a mechanism of the
// sandbox is missing, named; kInvalidArgument: the request; kNotFound: no
// bundle there; kResourceExhausted or kAborted: this host has no room now;
// kCancelled: `is_stopped` said so; else FileError's.

#ifndef FOOTPRINT_GATES_TRIALS_RUN_TRIAL_H_
#define FOOTPRINT_GATES_TRIALS_RUN_TRIAL_H_

#include <functional>

#include "absl/status/statusor.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

// `is_stopped` is asked while the bundle is unpacked, and ends the trial;
// empty: never.
absl::StatusOr<TrialResult> RunTrial(
    const TrialRequest& request, const std::function<bool()>& is_stopped = {});

// 0, 1 and so on, as `check` ends: gate.proto's Decision.
int ExitStatusOf(const TrialResult& result);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_RUN_TRIAL_H_
