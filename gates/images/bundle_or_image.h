// Reads and unpacks what somebody sends to be judged: a bundle (gates/bundles)
// or a container image, as a folder or as an archive. It is recognised by its
// content: an image has the file oci-layout and no bundle's manifest.
//
//   absl::StatusOr<BundleOrImage> read =
//       ReadBundleOrImage("model.tar", "/var/trials/17", limits);
//   absl::StatusOr<BundleOrImage> unpacked =
//       UnpackBundleOrImage("model.tar", "/var/trials/17", owner, limits);
//   unpacked->image_folder;  // "/var/trials/17/image", or "" for a bundle
//
// An image is named by a path, or by PATH@sha256:HEX, which chooses one of its
// manifests. For images the limits of BundleLimits on entries and names are
// replaced by larger ones.
//
// Thread-safe; keeps nothing. The caller owns the files. Memory and time: those
// of bundle.h and unpack_image.h. An archive is read once more to recognise it.
// Errors: those of ReadBundle and UnpackBundle (bundle.h) and of UnpackImage
// (unpack_image.h), which have the same meaning.

#ifndef FOOTPRINT_GATES_IMAGES_BUNDLE_OR_IMAGE_H_
#define FOOTPRINT_GATES_IMAGES_BUNDLE_OR_IMAGE_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/packing.h"

namespace footprint {

struct BundleOrImage {
  BundleManifest manifest;
  // The folder of the unpacked bundle or of the unpacked image; the other one
  // is empty, and both are if nothing was unpacked.
  std::string bundle_folder;
  std::string image_folder;
  // "sha256:HEX" of an image's manifest, and the image's settings. They are
  // empty for a bundle.
  std::string image_digest;
  std::vector<std::string> environment;
  std::string working_folder;
};

// Returns the folder in which the path lies. A server's own archives lie on a
// disk, where a compressed one can be unpacked.
std::string FolderOf(const std::string& path);

// Returns limits for a caller's own folder or archive, which nothing has to
// stop.
BundleLimits LimitsOfOwnImage();

// Returns whether the path leads to an image, without its digest. Returns false
// if it cannot be read within the limits, or once they are stopped.
bool IsImagePath(const std::string& name, const BundleLimits& limits);

// Writes the archive of a folder, or of an image in any form, to `path`, in one
// step. A bundle's archive is refused, since it is one already. A compressed
// image is unpacked to a file without a name in `scratch_folder`. Returns
// kResourceExhausted, before it packs a byte, if the folder or image is larger
// than the limits, and kCancelled if they stopped it.
absl::Status MakeArchiveToSend(const std::string& name, const std::string& path,
                               const std::string& scratch_folder,
                               const PackingOptions& options = {});

// Reads the manifest. All of a bundle's archive is read; the layers of an image
// are not. A folder is refused unless it is an image.
absl::StatusOr<BundleOrImage> ReadBundleOrImage(
    const std::string& name, const std::string& scratch_folder,
    const BundleLimits& limits);

// Unpacks an archive, or an image's folder, into a new folder in
// `work_folder`. If this process is root's, the files of an image belong to
// `owner`.
absl::StatusOr<BundleOrImage> UnpackBundleOrImage(
    const std::string& name, const std::string& work_folder, uid_t owner,
    const BundleLimits& limits);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMAGES_BUNDLE_OR_IMAGE_H_
