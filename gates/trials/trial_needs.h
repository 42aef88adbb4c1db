// Computes the memory and the time that a trial needs, for schedulers that
// choose the machine.
//
//   absl::StatusOr<TrialNeeds> needs = FindTrialNeeds(request, is_stopped);
//   if (!needs.ok()) return needs.status();
//   job.memory_bytes = needs->memory_bytes;
//
// Both figures are upper bounds for any host: most trials need less. They
// follow from the manifest, so a bundle is read to its end, and nothing is
// unpacked but an image's archive that is compressed. For a bundle that cannot
// be tried, they are the memory and the time of reading and unpacking.
//
// Thread-safe; keeps nothing. Memory and time: those of ReadBundleOrImage
// (bundle_or_image.h). Errors: those of ReadBundleOrImage for which the bundle
// is not at fault, such as kCancelled if `is_stopped` returned true.

#ifndef FOOTPRINT_GATES_TRIALS_TRIAL_NEEDS_H_
#define FOOTPRINT_GATES_TRIALS_TRIAL_NEEDS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

struct TrialNeeds {
  // Memory of the program that tries the bundle and, in addition, of the
  // largest run or of the reader of the profiler's records. It is at least the
  // memory in which that program unpacks the bundle.
  int64_t memory_bytes = 0;
  // Time limits of all runs, of unpacking and of the profiler's reader.
  int64_t seconds = 0;
};

// Returns the needs of a trial of a bundle with this manifest. A pure function.
TrialNeeds ComputeTrialNeeds(const TrialRequest& request,
                             const BundleManifest& manifest);

// Reads the manifest of the request's bundle, which is an archive.
absl::StatusOr<TrialNeeds> FindTrialNeeds(
    const TrialRequest& request, const std::function<bool()>& is_stopped);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_TRIAL_NEEDS_H_
