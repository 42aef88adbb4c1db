// Writes one image of a layout as an archive that a server takes.
//
//   absl::Status status = MakeImageArchive(layout, *image, "model.tar");
//
// The archive is a plain tar of an OCI image layout, since its layers are
// compressed already. Its bytes follow from the image's digest alone: it has
// the manifest, the config and the layers, sorted by their digests, and nothing
// else of the layout. So the hash of the archive, by which the server finds a
// verdict, names the image.
//
// Every blob is checked before it is copied and while it is copied, so an image
// that changes meanwhile makes no archive. Thread-safe; keeps nothing. Memory:
// 1 MiB. Time: linear, some 6 seconds for each GB. Errors: those of ImageLayout
// (image_layout.h) and TarWriter; kUnavailable if the image changes.

#ifndef FOOTPRINT_GATES_IMAGES_IMAGE_ARCHIVE_H_
#define FOOTPRINT_GATES_IMAGES_IMAGE_ARCHIVE_H_

#include <string>

#include "absl/status/status.h"
#include "footprint/gates/bundles/packing.h"
#include "footprint/gates/images/image.h"
#include "footprint/gates/images/image_layout.h"

namespace footprint {

// Writes the archive to `path`, in one step. Returns kResourceExhausted before
// it packs a byte if the image is larger than the limit of the archive.
absl::Status MakeImageArchive(const ImageLayout& layout, const Image& image,
                              const std::string& path,
                              const PackingOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMAGES_IMAGE_ARCHIVE_H_
