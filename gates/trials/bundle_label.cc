#include "footprint/gates/trials/bundle_label.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/images/bundle_or_image.h"
#include "footprint/gates/trials/trial_verdict.h"

namespace footprint {
namespace {

constexpr int kMostSeconds = 60;

}  // namespace

absl::StatusOr<std::string> ReadBundleLabel(
    const std::string& path, int64_t most_archive_bytes,
    const std::function<bool()>& is_stopped) {
  BundleLimits limits = LimitsOfArchive(most_archive_bytes);
  limits.seconds = kMostSeconds;
  limits.is_stopped = is_stopped;
  const absl::StatusOr<BundleOrImage> read =
      ReadBundleOrImage(path, FolderOf(path), limits);
  if (read.ok()) return LabelOfBundle(read->manifest);
  if (absl::IsResourceExhausted(read.status())) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the bundle's label cannot be read, and labels have owners here: ",
        read.status().message()));
  }
  if (absl::IsAborted(read.status())) {
    return absl::UnavailableError(read.status().message());
  }
  return read.status();
}

}  // namespace footprint
