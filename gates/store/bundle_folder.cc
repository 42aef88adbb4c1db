#include "footprint/gates/store/bundle_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"

namespace footprint {
namespace {

// Only the server's user may read the bundles.
constexpr mode_t kFolderMode = 0700;
constexpr int64_t kCopiedBytesAtOnce = int64_t{1} << 20;

// Returns the subfolder for the first two digits of the hash. Subfolders keep
// each folder small.
std::string MakeSubfolder(absl::string_view sha256) {
  return std::string(sha256.substr(0, 2));
}

}  // namespace

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return FileError(errno, path, "cannot be made");
}

absl::Status BundleUpload::Append(absl::string_view bytes) {
  appended_bytes_ += static_cast<int64_t>(bytes.size());
  if (appended_bytes_ > announced_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the bundle has more than the ", announced_bytes_,
                     " bytes that were announced"));
  }
  hash_.Add(bytes);
  return file_.Append(bytes);
}

absl::Status BundleUpload::Finish() {
  if (appended_bytes_ != announced_bytes_) {
    return absl::InvalidArgumentError(
        absl::StrCat("half an upload: ", appended_bytes_, " bytes of ",
                     announced_bytes_, " arrived; send it again"));
  }
  const std::string found = hash_.FinishHex();
  if (found != sha256_) {
    return absl::InvalidArgumentError(
        absl::StrCat("the bundle's SHA-256 is ", found, ", not ", sha256_,
                     ": it changed on its way, or while it was read; send it "
                     "again"));
  }
  return file_.Commit();
}

absl::StatusOr<BundleFolder> BundleFolder::Open(const std::string& path) {
  const absl::Status made = MakeFolder(path);
  if (!made.ok()) return made;
  return BundleFolder(path);
}

std::string BundleFolder::MakePath(absl::string_view sha256) const {
  return absl::StrCat(path_, "/", MakeSubfolder(sha256), "/", sha256);
}

absl::StatusOr<bool> BundleFolder::HasAny() const {
  std::error_code error;
  std::filesystem::recursive_directory_iterator each(path_, error);
  for (; !error && each != std::filesystem::recursive_directory_iterator();
       each.increment(error)) {
    if (IsSha256Hex(each->path().filename().string())) return true;
  }
  if (error) return FileError(error.value(), path_, "cannot be read");
  return false;
}

absl::StatusOr<int64_t> BundleFolder::FindSize(absl::string_view sha256) const {
  struct stat found;
  if (!IsSha256Hex(sha256) || stat(MakePath(sha256).c_str(), &found) != 0) {
    return absl::NotFoundError(absl::StrCat("no bundle ", sha256));
  }
  return static_cast<int64_t>(found.st_size);
}

absl::StatusOr<BundleUpload> BundleFolder::StartUpload(
    absl::string_view sha256, int64_t announced_bytes) const {
  if (!IsSha256Hex(sha256)) {
    return absl::InvalidArgumentError(
        "a bundle is named by its SHA-256: 64 digits, in lower case");
  }
  const std::string subfolder = absl::StrCat(path_, "/", MakeSubfolder(sha256));
  const absl::Status made = MakeFolder(subfolder);
  if (!made.ok()) return made;
  // This flushes the name of the new subfolder.
  const FileDescriptor parent(
      open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.is_open() && fsync(parent.get()) != 0) {
    return FileError(errno, path_, "cannot be flushed");
  }
  AtomicFileOptions options;
  options.expected_bytes = announced_bytes;
  absl::StatusOr<AtomicFile> file =
      AtomicFile::Create(MakePath(sha256), options);
  if (!file.ok()) return file.status();
  return BundleUpload(*std::move(file), std::string(sha256), announced_bytes);
}

absl::Status BundleFolder::Remove(absl::string_view sha256) const {
  const std::string path = MakePath(sha256);
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return FileError(errno, path, "cannot be removed");
}

absl::Status BundleFolder::Sweep(
    const std::function<bool(absl::string_view sha256)>& is_wanted) const {
  std::error_code error;
  std::filesystem::recursive_directory_iterator each(path_, error);
  const std::filesystem::recursive_directory_iterator end;
  while (!error && each != end) {
    const std::string name = each->path().filename().string();
    const bool is_bundle = IsSha256Hex(name);
    const bool is_partial = name.size() > 1 && name[0] == '.';
    const std::string path = each->path().string();
    const bool is_file = each->is_regular_file(error);
    each.increment(error);
    if (is_file && (is_partial || (is_bundle && !is_wanted(name)))) {
      unlink(path.c_str());
    }
  }
  return error ? FileError(error.value(), path_, "cannot be read")
               : absl::OkStatus();
}

absl::Status BundleFolder::CopyTo(absl::string_view sha256,
                                  const BundleFolder& destination) const {
  const std::string path = MakePath(sha256);
  const absl::StatusOr<FileDescriptor> file = OpenRegularFile(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<int64_t> size = FindSize(sha256);
  if (!size.ok()) return size.status();
  absl::StatusOr<BundleUpload> copy = destination.StartUpload(sha256, *size);
  if (!copy.ok()) return copy.status();
  std::string piece(std::min(*size, kCopiedBytesAtOnce), '\0');
  for (int64_t at = 0; at < *size; at += static_cast<int64_t>(piece.size())) {
    piece.resize(std::min<int64_t>(*size - at, kCopiedBytesAtOnce));
    absl::Status status =
        ReadFully(file->get(), path, at, static_cast<int64_t>(piece.size()),
                  piece.data());
    if (status.ok()) status = copy->Append(piece);
    if (!status.ok()) return status;
  }
  return copy->Finish();
}

}  // namespace footprint
