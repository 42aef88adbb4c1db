#include "footprint/gates/images/bundle_or_image.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image.h"
#include "footprint/gates/images/image_archive.h"
#include "footprint/gates/images/image_layout.h"
#include "footprint/gates/images/unpack_image.h"

namespace footprint {
namespace {

// A conda environment with CUDA has some 100,000 files.
constexpr int64_t kMostImageEntries = 250000;
constexpr int kMostImagePathBytes = 1024;
constexpr int kMostImagePathDepth = 64;
// For a folder or archive of the caller's own, which is only packed anew.
constexpr int64_t kAnyBytes = int64_t{1} << 50;
constexpr int kAnySeconds = 1 << 24;

BundleLimits LimitsOfImage(BundleLimits limits) {
  limits.entries = std::max(limits.entries, kMostImageEntries);
  limits.path_bytes = std::max(limits.path_bytes, kMostImagePathBytes);
  limits.path_depth = std::max(limits.path_depth, kMostImagePathDepth);
  return limits;
}

// The passes over a bundle, of which the first looks for an image, have the
// time together.
BundleLimits WithRestOfTime(BundleLimits limits, SteadyTime end) {
  limits.seconds =
      static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(
                           end - std::chrono::steady_clock::now())
                           .count()) +
      1;
  return limits;
}

// A name that exists is a path, whatever its end.
ImageName NameOf(const std::string& name) {
  struct stat about = {};
  return stat(name.c_str(), &about) == 0 ? ImageName{name, ""}
                                         : ParseImageName(name);
}

// An image that was opened, or nothing for a bundle.
struct OpenedImage {
  ImageLayout layout;
  Image image;
};

// Opens the image, whose limits must exist as long as the result. Returns
// nullopt for a bundle.
absl::StatusOr<absl::optional<OpenedImage>> OpenImage(
    const std::string& name, const std::string& scratch_folder,
    const BundleLimits& limits, SteadyTime end) {
  const ImageName image_name = NameOf(name);
  absl::StatusOr<absl::optional<ImageLayout>> layout =
      ImageLayout::Open(image_name.path, scratch_folder, limits, end);
  if (!layout.ok()) return layout.status();
  if (!layout->has_value()) {
    if (image_name.sha256.empty()) return absl::optional<OpenedImage>();
    return absl::InvalidArgumentError(absl::StrCat(
        image_name.path, ": is no image, so no digest chooses a part of it"));
  }
  absl::StatusOr<Image> image =
      ReadImage(**layout, image_name.sha256, image_name.path);
  if (!image.ok()) return image.status();
  return absl::optional<OpenedImage>(
      OpenedImage{**std::move(layout), *std::move(image)});
}

BundleOrImage DescribeImage(const Image& image) {
  BundleOrImage input;
  input.manifest = image.manifest;
  input.image_digest = absl::StrCat("sha256:", image.descriptor.sha256);
  input.environment = image.environment;
  input.working_folder = image.working_folder;
  return input;
}

}  // namespace

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

BundleLimits LimitsOfOwnImage() {
  BundleLimits limits = LimitsOfImage(BundleLimits());
  limits.archive_bytes = kAnyBytes;
  limits.unpacked_bytes = kAnyBytes;
  limits.seconds = kAnySeconds;
  return limits;
}

bool IsImagePath(const std::string& name, const BundleLimits& limits) {
  const BundleLimits image_limits = LimitsOfImage(limits);
  const absl::StatusOr<bool> is_image = ImageLayout::IsImage(
      NameOf(name).path, image_limits, EndOfTime(image_limits));
  return is_image.ok() && *is_image;
}

absl::Status MakeArchiveToSend(const std::string& name, const std::string& path,
                               const std::string& scratch_folder,
                               const PackingOptions& options) {
  BundleLimits limits = LimitsOfOwnImage();
  limits.is_stopped = options.limits.is_stopped;
  const absl::StatusOr<absl::optional<OpenedImage>> opened =
      OpenImage(name, scratch_folder, limits, EndOfTime(limits));
  if (!opened.ok()) return opened.status();
  if (!opened->has_value()) return MakeBundle(name, path, options);
  return MakeImageArchive((*opened)->layout, (*opened)->image, path, options);
}

absl::StatusOr<BundleOrImage> ReadBundleOrImage(
    const std::string& name, const std::string& scratch_folder,
    const BundleLimits& limits) {
  const BundleLimits image_limits = LimitsOfImage(limits);
  const SteadyTime end = EndOfTime(image_limits);
  const absl::StatusOr<absl::optional<OpenedImage>> opened =
      OpenImage(name, scratch_folder, image_limits, end);
  if (!opened.ok()) return opened.status();
  if (opened->has_value()) return DescribeImage((*opened)->image);
  absl::StatusOr<BundleManifest> manifest =
      ReadBundle(name, WithRestOfTime(limits, end));
  if (!manifest.ok()) return manifest.status();
  BundleOrImage input;
  input.manifest = *std::move(manifest);
  return input;
}

absl::StatusOr<BundleOrImage> UnpackBundleOrImage(
    const std::string& name, const std::string& work_folder, uid_t owner,
    const BundleLimits& limits) {
  const BundleLimits image_limits = LimitsOfImage(limits);
  const SteadyTime end = EndOfTime(image_limits);
  const absl::StatusOr<absl::optional<OpenedImage>> opened =
      OpenImage(name, work_folder, image_limits, end);
  if (!opened.ok()) return opened.status();
  BundleOrImage input;
  if (opened->has_value()) {
    input = DescribeImage((*opened)->image);
    input.image_folder = absl::StrCat(work_folder, "/image");
    const absl::Status status =
        UnpackImage((*opened)->layout, (*opened)->image, input.image_folder,
                    owner, image_limits, end);
    if (!status.ok()) return status;
    return input;
  }
  input.bundle_folder = absl::StrCat(work_folder, "/bundle");
  absl::StatusOr<BundleManifest> manifest =
      UnpackBundle(name, input.bundle_folder, WithRestOfTime(limits, end));
  if (!manifest.ok()) return manifest.status();
  input.manifest = *std::move(manifest);
  return input;
}

}  // namespace footprint
