// Reads a container image: chooses its manifest, and finds how its program is
// run.
//
//   absl::StatusOr<Image> image = ReadImage(layout, /*digest=*/"", "model");
//   if (!image.ok()) return image.status();
//   image->manifest.entry();  // "/opt/venv/bin/python"
//   image->layers[0].blob.sha256;
//
// Footprint's manifest is the image's label org.footprint.bundle, in the text
// format of gates/bundles/bundle.proto. The image's Entrypoint, Cmd, Env and
// WorkingDir are the defaults of all that it leaves out. As `docker run` does,
// an `entry` replaces Entrypoint and Cmd, and `arguments` alone replace Cmd.
// If there is no label, the image's settings alone count.
//
// Reads only small documents, no layers. Thread-safe; keeps nothing. Memory: a
// hundred times the documents, which have at most 1 MiB each. Errors: those of
// ImageLayout (image_layout.h) and image_documents.h; kInvalidArgument, with
// the digests to choose from, if there are several manifests for this host, and
// with the platforms if there is none.

#ifndef FOOTPRINT_GATES_IMAGES_IMAGE_H_
#define FOOTPRINT_GATES_IMAGES_IMAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/bundles/bundle.pb.h"
#include "footprint/gates/images/image_documents.h"
#include "footprint/gates/images/image_layout.h"

namespace footprint {

struct ImageLayer {
  BlobDescriptor blob;
  std::string diff_id;  // 64 digits: the hash of the unpacked layer
};

struct Image {
  // Names the image, and with it all its bytes.
  BlobDescriptor descriptor;
  BlobDescriptor config;
  std::vector<ImageLayer> layers;  // the lowest first
  // The label's manifest with all defaults: kind, entry, arguments and label
  // are set.
  BundleManifest manifest;
  std::vector<std::string> environment;
  std::string working_folder;
};

// A path, and the digest of the manifest that is meant.
struct ImageName {
  std::string path;
  std::string sha256;  // 64 digits; empty: the only manifest for this host
};

// Splits "PATH@sha256:HEX". A path without such an end stays as it is. Pure
// function.
ImageName ParseImageName(const std::string& text);

// Reads the manifest with this digest, or the only one for this host if it is
// empty. `path` is for messages.
absl::StatusOr<Image> ReadImage(const ImageLayout& layout,
                                const std::string& sha256,
                                const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMAGES_IMAGE_H_
