#include "footprint/gates/images/unpack_image.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/images/layer_unpacker.h"
#include "footprint/gates/images/root_folder.h"

namespace footprint {
namespace {

// The folders on which the sandbox mounts its own.
constexpr const char* kMountedFolders[] = {"dev", "proc", "tmp"};

absl::Status UnpackLayers(const ImageLayout& layout, const Image& image,
                          BundleLimits limits, SteadyTime end,
                          RootFolder* root) {
  for (const ImageLayer& each : image.layers) {
    const absl::StatusOr<ImageBlob> blob = layout.OpenBlob(each.blob);
    if (!blob.ok()) return blob.status();
    LayerUnpacker layer(absl::StrCat("the layer sha256:", each.blob.sha256),
                        limits, root);
    const absl::Status status = layer.Apply(blob->part, each.diff_id, end);
    if (!status.ok()) return status;
    limits.unpacked_bytes -= layer.unpacked_bytes();
  }
  return absl::OkStatus();
}

// Makes the folders that the sandbox needs.
absl::Status Complete(const Image& image, RootFolder* root) {
  for (const char* each : kMountedFolders) {
    const absl::Status status = root->EnsureFolder(each);
    if (!status.ok()) return status;
  }
  if (image.working_folder == "/") return absl::OkStatus();
  // It may lie behind a link. If there is no such folder, the program does not
  // start.
  const absl::Status status =
      root->EnsureFolder(image.working_folder.substr(1));
  return absl::IsInvalidArgument(status) ? absl::OkStatus() : status;
}

absl::Status Unpack(const ImageLayout& layout, const Image& image,
                    const std::string& folder, uid_t owner,
                    const BundleLimits& limits, SteadyTime end) {
  absl::StatusOr<RootFolder> root = RootFolder::Make(folder, owner);
  if (!root.ok()) return root.status();
  const absl::Status status = UnpackLayers(layout, image, limits, end, &*root);
  return status.ok() ? Complete(image, &*root) : status;
}

}  // namespace

absl::Status UnpackImage(const ImageLayout& layout, const Image& image,
                         const std::string& folder, uid_t owner,
                         const BundleLimits& limits, SteadyTime end) {
  struct stat about = {};
  const bool was_there = lstat(folder.c_str(), &about) == 0;
  const absl::Status status = Unpack(layout, image, folder, owner, limits, end);
  if (!status.ok() && !was_there) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  return status;
}

}  // namespace footprint
