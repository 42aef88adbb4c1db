// Opens an OCI image layout: a folder with the files oci-layout, index.json and
// blobs/sha256/HEX, or an archive of one (tar, plain or compressed by gzip or
// zstd), as `docker save` from version 25 on, `skopeo` and `umoci` write it.
//
//   absl::StatusOr<absl::optional<ImageLayout>> layout =
//       ImageLayout::Open("model.tar", "/var/trials/17", limits,
//                         EndOfTime(limits));
//   if (layout.ok() && layout->has_value()) {
//     absl::StatusOr<std::string> index = (*layout)->ReadIndex();
//   }
//
// Size and hash of a blob are compared with its descriptor before it is
// returned. A blob that changes afterwards is read as it is then, so others
// must not be able to write to it: a trial opens its own copy.
//
// An archive that is compressed is unpacked to a file without a name in
// `scratch_folder`. Movable; thread-compatible. The limits must exist as long
// as the object. Memory: 150 bytes for each blob of an archive. Time: linear.
// Errors: kInvalidArgument if the image is at fault; kResourceExhausted if it
// exceeds a limit; kAborted if this host has no room; kCancelled if
// `limits.is_stopped` returned true; else FileError's.

#ifndef FOOTPRINT_GATES_IMAGES_IMAGE_LAYOUT_H_
#define FOOTPRINT_GATES_IMAGES_IMAGE_LAYOUT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/gates/bundles/bundle_limits.h"
#include "footprint/gates/bundles/unpacked_bytes.h"
#include "footprint/gates/images/image_documents.h"

namespace footprint {

// A blob that has its descriptor's size and hash.
struct ImageBlob {
  FileDescriptor file;  // open only if the layout does not own it
  FilePart part;
};

class ImageLayout {
 public:
  // Returns nullopt if the path leads to something that is not an image: a
  // folder or archive that has a bundle's manifest or no file oci-layout.
  static absl::StatusOr<absl::optional<ImageLayout>> Open(
      const std::string& path, const std::string& scratch_folder,
      const BundleLimits& limits, SteadyTime end);

  // Returns whether the path leads to an image, of which only the names are
  // read.
  static absl::StatusOr<bool> IsImage(const std::string& path,
                                      const BundleLimits& limits,
                                      SteadyTime end);

  // Returns the text of index.json.
  absl::StatusOr<std::string> ReadIndex() const;
  // Returns a blob that is a document of at most kMostDocumentBytes.
  absl::StatusOr<std::string> ReadDocument(const BlobDescriptor& blob) const;
  // Opens a blob. This object must outlive it.
  absl::StatusOr<ImageBlob> OpenBlob(const BlobDescriptor& blob) const;

 private:
  ImageLayout(const BundleLimits& limits, SteadyTime end)
      : limits_(&limits), end_(end) {}
  // Return whether it is an image. The files of an archive are listed.
  absl::StatusOr<bool> Look(const std::string& path);
  absl::StatusOr<bool> LookIntoArchive(const std::string& path);
  absl::Status UnpackIfCompressed(const std::string& scratch_folder);
  absl::Status Unpack(const FilePart& part, const std::string& scratch_folder);
  absl::StatusOr<bool> FindFiles(const FilePart& part);
  absl::StatusOr<ImageBlob> OpenFile(const std::string& name) const;
  absl::StatusOr<std::string> ReadFile(const std::string& name) const;
  absl::Status CheckHash(const ImageBlob& opened,
                         const BlobDescriptor& blob) const;

  const BundleLimits* limits_;
  SteadyTime end_;
  std::string folder_;  // empty for an archive
  FileDescriptor file_;
  std::map<std::string, FilePart> files_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMAGES_IMAGE_LAYOUT_H_
