// Tries a bundle: runs it in a sandbox, and says whether it fits its budget.
//
//   TrialRequest request;
//   request.set_bundle_path("model.bundle");
//   request.set_work_folder("/var/lib/footprint/trials/17");
//   request.set_budget_bytes(200 << 20);
//   absl::StatusOr<TrialResult> result = RunTrial(request);
//   return result->verdict().decision();  // the exit status, as of `check`
//
// Three runs, each in a new sandbox: as it is, measured from outside; as it is,
// under the budget itself; and under the profiler, to explain. The first two
// decide, and cannot tell themselves apart. The first is made again where page
// cache may be in its peak. Whatever a bundle does is a
// verdict; an error is the host's or the request's.
//
// A program can tell the profiled run from the others. A threshold on its heap
// therefore accepts only where the recorded heap explains the measured memory
// (heap_evidence.h), by a fourth run under that limit where it is needed; else
// the trial is INCONCLUSIVE and says why. So it is, too, where the host and not
// the limit of a run is short of memory.
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

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "footprint/gates/trials/memory_admission.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

struct TrialSurroundings {
  // Shared by the trials that run at once, whose limits together stay within
  // it; null: what the host has now is this trial's alone. Outlives the call.
  MemoryAdmission* admission = nullptr;
  // Called once, on the calling thread, when the verdict stands and only its
  // explanation is still to come; not where a threshold still judges.
  std::function<void(const TrialResult&)> on_decided;
  // Asked while the bundle is unpacked; ends the trial. Empty: never.
  std::function<bool()> is_stopped;
};

// The memory that this host has now for the runs of trials.
absl::StatusOr<int64_t> ReadBytesForRuns();

absl::StatusOr<TrialResult> RunTrial(
    const TrialRequest& request, const TrialSurroundings& surroundings = {});

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_RUN_TRIAL_H_
