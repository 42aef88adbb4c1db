// Reads any bytes as each document of an image: they are refused, or give
// hashes of blobs, and texts that a program can get.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/images/image_documents.h"

namespace footprint {
namespace image_documents_fuzz_test {

void RequireBlob(const BlobDescriptor& blob) {
  Require(IsSha256Hex(blob.sha256), "a blob has a hash");
  Require(blob.size_bytes >= 0, "a size is not negative");
}

void ReadAsIndex(absl::string_view text) {
  const absl::StatusOr<ImageIndex> index = ParseImageIndex(text, "index");
  if (!index.ok()) return RequireRefusal(index.status());
  for (const BlobDescriptor& each : index->manifests) RequireBlob(each);
}

void ReadAsManifest(absl::string_view text) {
  const absl::StatusOr<ImageManifest> manifest =
      ParseManifestOfImage(text, "manifest");
  if (!manifest.ok()) return RequireRefusal(manifest.status());
  RequireBlob(manifest->config);
  Require(manifest->layers.size() <= kMostLayers, "layers are bounded");
  for (const BlobDescriptor& each : manifest->layers) {
    RequireBlob(each);
    Require(each.kind == BlobDescriptor::Kind::kLayer, "a layer is one");
  }
}

void ReadAsConfig(absl::string_view text) {
  const absl::StatusOr<ImageConfig> config = ParseImageConfig(text, "config");
  if (!config.ok()) return RequireRefusal(config.status());
  Require(config->working_folder[0] == '/', "the folder is absolute");
  for (const std::string& each : config->environment) {
    Require(each.find('=') != std::string::npos, "a variable has a value");
    Require(each.find('\0') == std::string::npos, "no text has a zero byte");
  }
  for (const std::string& each : config->diff_ids) {
    Require(IsSha256Hex(each), "a diff_id is a hash");
  }
}

void ReadAnyDocument(absl::string_view text) {
  ReadAsIndex(text);
  ReadAsManifest(text);
  ReadAsConfig(text);
  const absl::Status status = CheckLayoutFile(text);
  if (!status.ok()) RequireRefusal(status);
}

FOOTPRINT_FUZZ_TARGET(ReadAnyDocument)

}  // namespace image_documents_fuzz_test
}  // namespace footprint
