// Computes the limits of a trial, and the run in the sandbox that has these
// limits.
//
//   const BundleLimits limits_of_archive = ReadBundleLimits(request);
//   absl::StatusOr<TrialLimits> limits =
//       ComputeTrialLimits(request, manifest, admission.total_bytes());
//   SandboxRun run = MakeSandboxRun(request, input, *limits,
//                                   limits->measuring_limit_bytes);
//
// Pure functions, thread-safe. Only a trial needs this; others use run_trial.h.

#ifndef FOOTPRINT_GATES_TRIALS_TRIAL_LIMITS_H_
#define FOOTPRINT_GATES_TRIALS_TRIAL_LIMITS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/images/bundle_or_image.h"
#include "footprint/gates/sandbox/sandbox.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

// The run under the profiler gets this much more memory, and this many times
// the time limit.
inline constexpr int64_t kProfilerBytes = int64_t{256} << 20;
inline constexpr int kProfilerTimes = 4;

struct TrialLimits {
  // The bytes that the program may need; 0 if there is no budget.
  int64_t budget_bytes = 0;
  // The limit of the measuring runs. Unless the request sets it, it is above
  // the budget if the host has room, so that the report can say by how much a
  // program exceeds the budget.
  int64_t measuring_limit_bytes = 0;
  int time_limit_seconds = 0;
  // The most processes and threads at a time.
  int process_limit = 256;
  // The most that any run on this host may get.
  int64_t room_bytes = 0;
};

// Returns the limits. The budget is that of the request, else that of the
// manifest (the smaller one if it has a budget and a device), and at most
// `request.most_budget_bytes()`, unless that is 0. If neither has a budget, it
// is this maximum. The time limit is that of the request, else a default; the
// manifest and `request.most_time_limit_seconds()` can only lower it. Fails
// with InvalidArgument if the manifest's budget is needed and its device is not
// in `request.devices()`, or if it asks for more than the request's maximum;
// the message is for the bundle's author.
absl::StatusOr<TrialLimits> ComputeTrialLimits(const TrialRequest& request,
                                               const BundleManifest& manifest,
                                               int64_t room_bytes);

// Returns the limits of the bundle's archive: those of the request, else those
// of LimitsOfArchive and the defaults.
BundleLimits ReadBundleLimits(const TrialRequest& request);

// Returns how the sandbox runs the bundle's program: the command for the
// manifest's kind, a fixed environment, and at most `limit_bytes` of memory (at
// least 1 MiB, at most the room). The input must be unpacked. The
// variables of an image replace those of the fixed environment.
SandboxRun MakeSandboxRun(const TrialRequest& request,
                          const BundleOrImage& input, const TrialLimits& limits,
                          int64_t limit_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_TRIAL_LIMITS_H_
