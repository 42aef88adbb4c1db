// Tries a bundle: runs it in a sandbox, and decides whether it fits its budget.
//
//   TrialRequest request;
//   request.set_bundle_path("model.bundle");
//   request.set_work_folder("/var/lib/footprint/trials/17");
//   request.set_budget_bytes(200 << 20);
//   absl::StatusOr<TrialResult> result = RunTrial(request);
//   return result->verdict().decision();  // the exit status, as for `check`
//
// A trial has up to three different runs, each in a new sandbox. The first runs
// the program unchanged and measures it from outside, the second runs it
// unchanged under the budget, and the third runs it under the profiler, to
// explain. The first two decide, and the program cannot tell them apart. The
// first run is repeated if its peak may contain page cache. The second is left
// out if the first decides, and the third if the request is `is_unexplained`
// and has no thresholds. Whatever a bundle does leads to a verdict; an error
// means that the host or the request is at fault.
//
// A program can tell the profiled run from the others. A threshold on its heap
// therefore accepts only if the recorded heap explains the measured memory
// (heap_evidence.h); if necessary, a fourth run under that limit shows it.
// Otherwise the trial is INCONCLUSIVE and says why. It is also INCONCLUSIVE if
// the host runs out of memory before a run reaches its limit.
//
// Thread-safe: trials in several threads and processes share only processor
// time. Leaves no process, mount, cgroup or file behind. Memory: about 20 MiB
// here, and the bundle's limits in its cgroup. Time: that of the runs, and some
// milliseconds. Errors: kFailedPrecondition if a mechanism of the sandbox is
// missing, which the message names; kInvalidArgument for a wrong request;
// kNotFound if there is no bundle; kResourceExhausted or kAborted if this host
// has no room now; kCancelled if `is_stopped` returned true; otherwise those of
// FileError.

#ifndef FOOTPRINT_GATES_TRIALS_RUN_TRIAL_H_
#define FOOTPRINT_GATES_TRIALS_RUN_TRIAL_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "footprint/gates/trials/memory_admission.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

struct TrialSurroundings {
  // The memory that trials share if they run at once: a run waits until its
  // limit fits. Not owned. Null: this trial gets all memory that the host has
  // now.
  MemoryAdmission* admission = nullptr;
  // Called at most once, on the calling thread, when the verdict is final and
  // only its explanation is missing. Not called if a threshold must still
  // judge, or if the bundle cannot be run. May be empty.
  std::function<void(const TrialResult&)> on_decided;
  // Called repeatedly while the bundle is unpacked; the trial ends if it
  // returns true. May be empty.
  std::function<bool()> is_stopped;
};

// Returns the memory that this host has now for the runs of trials.
absl::StatusOr<int64_t> ReadBytesForRuns();

// Runs the trial and returns its result, whose verdict is always set.
absl::StatusOr<TrialResult> RunTrial(
    const TrialRequest& request, const TrialSurroundings& surroundings = {});

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_RUN_TRIAL_H_
