#include "footprint/gates/trials/bundle_label.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/trials/trial_verdict.h"

namespace footprint {
namespace {

constexpr int kMostSeconds = 60;

}  // namespace

absl::StatusOr<std::string> ReadBundleLabel(
    const std::string& path, const std::function<bool()>& is_stopped) {
  BundleLimits limits;
  limits.seconds = kMostSeconds;
  limits.is_stopped = is_stopped;
  const absl::StatusOr<BundleManifest> manifest = ReadBundle(path, limits);
  if (manifest.ok()) return LabelOfBundle(*manifest);
  if (absl::IsResourceExhausted(manifest.status())) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the bundle's label cannot be read, and labels have owners here: ",
        manifest.status().message()));
  }
  if (absl::IsAborted(manifest.status())) {
    return absl::UnavailableError(manifest.status().message());
  }
  return manifest.status();
}

}  // namespace footprint
