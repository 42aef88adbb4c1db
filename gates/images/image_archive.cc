#include "footprint/gates/images/image_archive.h"

#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/bundles/tar_writer.h"

namespace footprint {
namespace {

// Returns an index with the manifest alone. The media type is one of those that
// image_documents.cc knows, so it needs no escapes.
std::string IndexText(const BlobDescriptor& manifest) {
  return absl::StrCat(
      R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1)"
      R"(+json","manifests":[{"mediaType":")",
      manifest.media_type, R"(","digest":"sha256:)", manifest.sha256,
      R"(","size":)", manifest.size_bytes, "}]}");
}

}  // namespace

absl::Status MakeImageArchive(const ImageLayout& layout, const Image& image,
                              const std::string& path) {
  // Layers may be the same.
  std::map<std::string, BlobDescriptor> blobs = {
      {image.descriptor.sha256, image.descriptor},
      {image.config.sha256, image.config}};
  for (const ImageLayer& each : image.layers) {
    blobs.insert({each.blob.sha256, each.blob});
  }
  const absl::StatusOr<std::unique_ptr<TarWriter>> writer =
      TarWriter::Create(path, TarWriter::Filter::kNone);
  if (!writer.ok()) return writer.status();
  absl::Status status =
      (*writer)->AddBytes("oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  if (status.ok()) {
    status = (*writer)->AddBytes("index.json", IndexText(image.descriptor));
  }
  for (const auto& [sha256, blob] : blobs) {
    if (!status.ok()) return status;
    const absl::StatusOr<ImageBlob> opened = layout.OpenBlob(blob);
    if (!opened.ok()) return opened.status();
    const std::string name = absl::StrCat("blobs/sha256/", sha256);
    status =
        (*writer)->AddFile(name, /*is_executable=*/false, opened->part, name);
  }
  return status.ok() ? (*writer)->Commit() : status;
}

}  // namespace footprint
