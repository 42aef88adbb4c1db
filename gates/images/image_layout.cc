#include "footprint/gates/images/image_layout.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"
#include "footprint/base/files/sha256.h"
#include "footprint/gates/bundles/bundle.h"
#include "footprint/gates/bundles/tar_reader.h"
#include "footprint/gates/bundles/tar_writer.h"

namespace footprint {
namespace {

constexpr char kLayoutFile[] = "oci-layout";
constexpr char kIndexFile[] = "index.json";
constexpr char kTagsFile[] = "repositories";
constexpr char kBlobFolder[] = "blobs/sha256/";
constexpr int64_t kHashedBytesAtOnce = 256 << 10;
constexpr size_t kMostBlobs = 10000;
constexpr char kAdvice[] = "; make the image anew";

// It may yet be a bundle, or no archive at all.
ArchiveName NameOfArchive() {
  return {"the bundle",
          "; send a folder, what `submit FOLDER --make=FILE` writes of it, or "
          "the archive of an image, made anew"};
}

std::string NameOfBlob(absl::string_view sha256) {
  return absl::StrCat(kBlobFolder, sha256);
}

bool IsNeeded(absl::string_view name) {
  return name == kLayoutFile || name == kIndexFile ||
         (absl::ConsumePrefix(&name, kBlobFolder) && IsSha256Hex(name));
}

bool IsCompressed(const FilePart& part) {
  char begin[4] = {};
  ReadAt(part.descriptor, part.offset_bytes, sizeof(begin), begin);
  const absl::string_view bytes(begin, sizeof(begin));
  return absl::StartsWith(bytes, "\x1f\x8b") ||
         absl::StartsWith(bytes, "\x28\xb5\x2f\xfd");
}

// Returns whether an archive of `docker save` before version 25 has a file of
// this name: the image's config, whose name is a hash, or the list of tags,
// which an image without tags lacks.
bool IsOfOldDocker(absl::string_view name) {
  return name == kTagsFile ||
         (absl::ConsumeSuffix(&name, ".json") && IsSha256Hex(name));
}

bool Exists(const std::string& path) {
  struct stat about = {};
  return stat(path.c_str(), &about) == 0;
}

absl::StatusOr<FilePart> WholeOf(int descriptor, const std::string& path) {
  struct stat about = {};
  if (fstat(descriptor, &about) != 0) {
    return FileError(errno, path, "cannot be read");
  }
  return FilePart{descriptor, 0, about.st_size};
}

}  // namespace

absl::StatusOr<absl::optional<ImageLayout>> ImageLayout::Open(
    const std::string& path, const std::string& scratch_folder,
    const BundleLimits& limits, SteadyTime end) {
  ImageLayout layout(limits, end);
  const absl::StatusOr<bool> is_image = layout.Look(path);
  if (!is_image.ok()) return is_image.status();
  if (!*is_image) return absl::optional<ImageLayout>();
  absl::Status status = layout.UnpackIfCompressed(scratch_folder);
  if (!status.ok()) return status;
  const absl::StatusOr<std::string> text = layout.ReadFile(kLayoutFile);
  if (!text.ok()) return text.status();
  status = CheckLayoutFile(*text);
  if (!status.ok()) return status;
  return absl::optional<ImageLayout>(std::move(layout));
}

absl::StatusOr<bool> ImageLayout::IsImage(const std::string& path,
                                          const BundleLimits& limits,
                                          SteadyTime end) {
  return ImageLayout(limits, end).Look(path);
}

absl::StatusOr<bool> ImageLayout::Look(const std::string& path) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) {
    return FileError(errno, path, "cannot be read");
  }
  if (!S_ISDIR(about.st_mode)) return LookIntoArchive(path);
  folder_ = path;
  return Exists(absl::StrCat(path, "/", kLayoutFile)) &&
         !Exists(absl::StrCat(path, "/", kManifestName));
}

absl::StatusOr<bool> ImageLayout::LookIntoArchive(const std::string& path) {
  absl::StatusOr<FileDescriptor> file = OpenRegularFile(path);
  if (!file.ok()) return file.status();
  file_ = *std::move(file);
  const absl::StatusOr<FilePart> part = WholeOf(file_.get(), path);
  if (!part.ok()) return part.status();
  return FindFiles(*part);
}

absl::Status ImageLayout::UnpackIfCompressed(
    const std::string& scratch_folder) {
  if (!folder_.empty()) return absl::OkStatus();
  absl::StatusOr<FilePart> part = WholeOf(file_.get(), "the image");
  if (!part.ok() || !IsCompressed(*part)) return part.status();
  const absl::Status status = Unpack(*part, scratch_folder);
  if (!status.ok()) return status;
  part = WholeOf(file_.get(), scratch_folder);
  if (!part.ok()) return part.status();
  files_.clear();
  return FindFiles(*part).status();
}

// Replaces the file by one without a name that has the unpacked bytes.
absl::Status ImageLayout::Unpack(const FilePart& part,
                                 const std::string& scratch_folder) {
  FileDescriptor file(open(scratch_folder.c_str(),
                           O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return OfHost(FileError(errno, scratch_folder,
                            "no file for the unpacked image can be made"));
  }
  UnpackedBytes bytes(NameOfArchive(), *limits_, end_);
  const absl::Status opened = bytes.Open(part);
  if (!opened.ok()) return opened;
  const int64_t most_bytes = MostUnpackedBytes(part.size_bytes, *limits_);
  int64_t written_bytes = 0;
  const void* block = nullptr;
  int64_t got = bytes.Next(&block);
  for (; got > 0; got = bytes.Next(&block)) {
    written_bytes += got;
    if (written_bytes > most_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the image unpacks to more than ", most_bytes,
          " bytes, the most for an archive of ", part.size_bytes, " bytes"));
    }
    if (!WriteOn(file.get(), block, got)) {
      return OfHost(FileError(errno, scratch_folder,
                              "the unpacked image cannot be written"));
    }
  }
  if (got < 0) return bytes.status();
  file_ = std::move(file);
  return absl::OkStatus();
}

// Lists the files of an archive. Returns false if it is no image.
absl::StatusOr<bool> ImageLayout::FindFiles(const FilePart& part) {
  TarReader reader(NameOfArchive(), *limits_, end_);
  const absl::Status opened = reader.Open(part);
  if (!opened.ok()) return opened;
  bool is_of_docker = false;
  TarEntry entry;
  absl::StatusOr<bool> has_entry = reader.Next(&entry);
  for (; has_entry.ok() && *has_entry; has_entry = reader.Next(&entry)) {
    absl::string_view name = entry.path;
    while (absl::ConsumePrefix(&name, "./")) {
    }
    if (name == kManifestName) return false;
    is_of_docker = is_of_docker || IsOfOldDocker(name);
    if (entry.kind == TarEntry::Kind::kFolder || !IsNeeded(name)) continue;
    if (entry.kind != TarEntry::Kind::kFile || entry.size_bytes < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", name, "' is not a file of the image", kAdvice));
    }
    if (!files_
             .insert({std::string(name),
                      {part.descriptor, entry.offset_bytes, entry.size_bytes}})
             .second) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", name, "' is twice in the image", kAdvice));
    }
    if (files_.size() > kMostBlobs) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the image has more than ", kMostBlobs, " blobs"));
    }
  }
  if (!has_entry.ok()) return has_entry.status();
  if (files_.count(kLayoutFile) > 0) return true;
  if (!is_of_docker) return false;
  return absl::InvalidArgumentError(
      "the archive has Docker's old format, without a file oci-layout; make it "
      "with `docker save` from version 25 on, or convert it by `skopeo copy "
      "docker-archive:OLD oci-archive:NEW`");
}

absl::StatusOr<ImageBlob> ImageLayout::OpenFile(const std::string& name) const {
  ImageBlob opened;
  if (folder_.empty()) {
    const auto found = files_.find(name);
    if (found == files_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the image has no '", name, "'", kAdvice));
    }
    opened.part = found->second;
    return opened;
  }
  const std::string path = absl::StrCat(folder_, "/", name);
  absl::StatusOr<FileDescriptor> file = OpenRegularFile(path);
  if (absl::IsNotFound(file.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the image has no '", name, "'", kAdvice));
  }
  if (!file.ok()) return file.status();
  opened.file = *std::move(file);
  const absl::StatusOr<FilePart> part = WholeOf(opened.file.get(), path);
  if (!part.ok()) return part.status();
  opened.part = *part;
  return opened;
}

absl::StatusOr<std::string> ImageLayout::ReadFile(
    const std::string& name) const {
  const absl::StatusOr<ImageBlob> opened = OpenFile(name);
  if (!opened.ok()) return opened.status();
  if (opened->part.size_bytes > kMostDocumentBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' of the image has more than ",
                     kMostDocumentBytes, " bytes, the most"));
  }
  std::string text(static_cast<size_t>(opened->part.size_bytes), '\0');
  const absl::Status status =
      ReadFully(opened->part.descriptor, name, opened->part.offset_bytes,
                opened->part.size_bytes, text.data());
  if (!status.ok()) return status;
  return text;
}

absl::StatusOr<std::string> ImageLayout::ReadIndex() const {
  return ReadFile(kIndexFile);
}

absl::StatusOr<std::string> ImageLayout::ReadDocument(
    const BlobDescriptor& blob) const {
  absl::StatusOr<std::string> text = ReadFile(NameOfBlob(blob.sha256));
  if (!text.ok()) return text;
  if (static_cast<int64_t>(text->size()) != blob.size_bytes ||
      Sha256Hex(*text) != blob.sha256) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the blob sha256:", blob.sha256, " has another size or hash", kAdvice));
  }
  return text;
}

absl::StatusOr<ImageBlob> ImageLayout::OpenBlob(
    const BlobDescriptor& blob) const {
  absl::StatusOr<ImageBlob> opened = OpenFile(NameOfBlob(blob.sha256));
  if (!opened.ok()) return opened;
  if (opened->part.size_bytes != blob.size_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the blob sha256:", blob.sha256, " has ", opened->part.size_bytes,
        " bytes, and its descriptor says ", blob.size_bytes, kAdvice));
  }
  if (blob.size_bytes > limits_->archive_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the blob sha256:", blob.sha256, " has ", blob.size_bytes, " bytes; ",
        limits_->archive_bytes, " is the most (--most_bundle)"));
  }
  const absl::Status status = CheckHash(*opened, blob);
  if (!status.ok()) return status;
  return opened;
}

absl::Status ImageLayout::CheckHash(const ImageBlob& opened,
                                    const BlobDescriptor& blob) const {
  Sha256 hash;
  std::vector<char> block(static_cast<size_t>(kHashedBytesAtOnce));
  for (int64_t at = 0; at < blob.size_bytes; at += kHashedBytesAtOnce) {
    const int64_t size = std::min(kHashedBytesAtOnce, blob.size_bytes - at);
    absl::Status status = CheckTime({"the image", ""}, *limits_, end_);
    if (status.ok()) {
      status = ReadFully(opened.part.descriptor, NameOfBlob(blob.sha256),
                         opened.part.offset_bytes + at, size, block.data());
    }
    if (!status.ok()) return status;
    hash.Add(absl::string_view(block.data(), static_cast<size_t>(size)));
  }
  const std::string found = hash.FinishHex();
  if (found == blob.sha256) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the blob sha256:", blob.sha256, " has the hash ", found, kAdvice));
}

}  // namespace footprint
