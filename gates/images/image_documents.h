// Parses the JSON documents of a container image, as the OCI Image Format 1.1
// and Docker's image manifest version 2, schema 2, define them.
//
//   absl::StatusOr<ImageIndex> index = ParseImageIndex(text, "index.json");
//   if (!index.ok()) return index.status();
//   layout.OpenBlob(index->manifests[0]);
//
// The sender may be hostile. A document is refused if it is not JSON, is larger
// than kMostDocumentBytes, nests deeper than 32, has a name twice, has one that
// differs from a known name in case alone, lacks a required field or has one of
// another type, or is of a kind that is not read: artifacts, encrypted layers,
// layers that only have an address, and Docker's schema 1.
//
// Pure functions, thread-safe; the results own copies. Memory: up to 100 times
// the document. Errors: kInvalidArgument; the message begins with `name`.

#ifndef FOOTPRINT_GATES_IMAGES_IMAGE_DOCUMENTS_H_
#define FOOTPRINT_GATES_IMAGES_IMAGE_DOCUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

inline constexpr int64_t kMostDocumentBytes = 1 << 20;
inline constexpr size_t kMostLayers = 500;

// Names a blob by its hash. Texts may have any characters: escape them.
struct BlobDescriptor {
  enum class Kind { kIndex, kManifest, kConfig, kLayer, kOther };
  Kind kind = Kind::kOther;
  std::string media_type;
  std::string sha256;  // 64 digits
  int64_t size_bytes = 0;
  // The platform and the tag, which only the entries of an index have, and not
  // all of them.
  std::string os;
  std::string architecture;
  std::string tag;
  // True if the blob describes another manifest, such as its provenance.
  bool is_attestation = false;
};

struct ImageIndex {
  std::vector<BlobDescriptor> manifests;
};

struct ImageManifest {
  BlobDescriptor config;
  std::vector<BlobDescriptor> layers;
};

struct ImageConfig {
  std::string os;
  std::string architecture;
  std::vector<std::string> environment;  // "NAME=value"
  std::string working_folder;            // absolute
  std::vector<std::string> entrypoint;
  std::vector<std::string> command;
  // The label org.footprint.bundle; a manifest in text format.
  absl::optional<std::string> bundle_label;
  // Hashes of the unpacked layers, 64 digits each.
  std::vector<std::string> diff_ids;
};

// The image label that has the manifest of Footprint.
inline constexpr char kBundleLabel[] = "org.footprint.bundle";

absl::StatusOr<ImageIndex> ParseImageIndex(absl::string_view text,
                                           absl::string_view name);
absl::StatusOr<ImageManifest> ParseManifestOfImage(absl::string_view text,
                                                   absl::string_view name);
absl::StatusOr<ImageConfig> ParseImageConfig(absl::string_view text,
                                             absl::string_view name);

// Checks the file oci-layout, which has the version of the layout.
absl::Status CheckLayoutFile(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMAGES_IMAGE_DOCUMENTS_H_
