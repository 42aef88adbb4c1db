#include "footprint/gates/trials/trial_needs.h"

#include <algorithm>

#include "absl/status/status.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/images/bundle_or_image.h"
#include "footprint/gates/trials/confined_reader.h"
#include "footprint/gates/trials/trial_limits.h"

namespace footprint {
namespace {

// The program that tries a bundle, while a run is measured.
constexpr int64_t kOwnBytes = int64_t{64} << 20;
// The same while it unpacks: zstd's window, and the pages of new files.
constexpr int64_t kUnpackingBytes = int64_t{256} << 20;
// More than any machine has.
constexpr int64_t kRoomBytes = int64_t{1} << 50;
// The first run may be repeated, and the second proves the budget.
constexpr int64_t kRunsThatDecide = 3;

// Three passes over the archive have the whole time each: the trial asks
// whether it is an image, reads it, and unpacks it.
constexpr int64_t kPasses = 3;

TrialNeeds NeedsOfUnpacking(const TrialRequest& request) {
  return {kUnpackingBytes,
          kPasses * int64_t{ReadBundleLimits(request).seconds}};
}

}  // namespace

TrialNeeds ComputeTrialNeeds(const TrialRequest& request,
                             const BundleManifest& manifest) {
  TrialNeeds needs = NeedsOfUnpacking(request);
  const absl::StatusOr<TrialLimits> limits =
      ComputeTrialLimits(request, manifest, kRoomBytes);
  // The manifest is at fault, and nothing is run.
  if (!limits.ok()) return needs;
  int64_t run_bytes = std::max(limits->measuring_limit_bytes,
                               std::min(limits->budget_bytes, kRoomBytes));
  int64_t run_count = kRunsThatDecide;
  const bool is_judged = request.threshold_paths_size() > 0;
  if (is_judged || !request.is_unexplained()) {
    run_bytes = std::max(run_bytes + kProfilerBytes, kReaderLimitBytes);
    run_count += kProfilerTimes;
    needs.seconds += kReaderSeconds;
  }
  // A threshold on the heap may need one more run.
  if (is_judged) ++run_count;
  needs.seconds += run_count * limits->time_limit_seconds;
  needs.memory_bytes = std::max(needs.memory_bytes, run_bytes + kOwnBytes);
  return needs;
}

absl::StatusOr<TrialNeeds> FindTrialNeeds(
    const TrialRequest& request, const std::function<bool()>& is_stopped) {
  BundleLimits limits = ReadBundleLimits(request);
  limits.is_stopped = is_stopped;
  const absl::StatusOr<BundleOrImage> read = ReadBundleOrImage(
      request.bundle_path(), FolderOf(request.bundle_path()), limits);
  if (read.ok()) return ComputeTrialNeeds(request, read->manifest);
  if (absl::IsInvalidArgument(read.status()) ||
      absl::IsResourceExhausted(read.status())) {
    return NeedsOfUnpacking(request);
  }
  return read.status();
}

}  // namespace footprint
