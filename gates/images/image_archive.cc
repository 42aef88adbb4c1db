#include "footprint/gates/images/image_archive.h"

#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/sha256.h"
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

// Copies a blob into the archive. Its hash is that of the copied bytes, since
// the image may change after the layout has checked it.
absl::Status AddBlob(const ImageLayout& layout, const BlobDescriptor& blob,
                     TarWriter* writer) {
  const absl::StatusOr<ImageBlob> opened = layout.OpenBlob(blob);
  if (!opened.ok()) return opened.status();
  const std::string name = absl::StrCat("blobs/sha256/", blob.sha256);
  Sha256 hash;
  const absl::Status status =
      writer->AddFile(name, /*is_executable=*/false, opened->part, name, &hash);
  if (!status.ok() || hash.FinishHex() == blob.sha256) return status;
  return absl::UnavailableError(
      absl::StrCat(name,
                   ": changed while it was packed; try again once nobody "
                   "writes to the image"));
}

}  // namespace

absl::Status MakeImageArchive(const ImageLayout& layout, const Image& image,
                              const std::string& path,
                              const PackingOptions& options) {
  // Layers may be the same.
  std::map<std::string, BlobDescriptor> blobs = {
      {image.descriptor.sha256, image.descriptor},
      {image.config.sha256, image.config}};
  for (const ImageLayer& each : image.layers) {
    blobs.insert({each.blob.sha256, each.blob});
  }
  int64_t all_bytes = 0;
  for (const auto& each : blobs) all_bytes += each.second.size_bytes;
  // Nothing is packed yet, but the archive will have all of the bytes.
  absl::Status status = NotePackedBytes(options, 0, all_bytes, all_bytes);
  if (!status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<TarWriter>> writer =
      TarWriter::Create(path, TarWriter::Filter::kNone);
  if (!writer.ok()) return writer.status();
  (*writer)->Watch([&](int64_t file_bytes, int64_t archive_bytes) {
    return NotePackedBytes(options, file_bytes, all_bytes, archive_bytes);
  });
  status =
      (*writer)->AddBytes("oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  if (status.ok()) {
    status = (*writer)->AddBytes("index.json", IndexText(image.descriptor));
  }
  for (const auto& each : blobs) {
    if (!status.ok()) return status;
    status = AddBlob(layout, each.second, writer->get());
  }
  return status.ok() ? (*writer)->Commit() : status;
}

}  // namespace footprint
