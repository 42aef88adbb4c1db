#include "footprint/trainer_manager/runtime/swap_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/files/read_write.h"

namespace footprint {
namespace {

// Returns a closed descriptor, with errno set, if the system refuses.
FileDescriptor OpenUnlinked(const std::string& folder) {
  FileDescriptor unnamed(
      open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (unnamed.is_open() || (errno != EOPNOTSUPP && errno != EISDIR)) {
    return unnamed;
  }
  // The file system does not support unnamed files.
  std::string path = absl::StrCat(folder, "/swap.XXXXXX");
  FileDescriptor named(mkostemp(&path[0], O_CLOEXEC));
  if (named.is_open()) unlink(path.c_str());
  return named;
}

// Returns 0, or the number of the error.
int Reserve(int descriptor, int64_t size_bytes) {
  // The system would end the program by a signal if it wrote beyond this limit.
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<uint64_t>(size_bytes) > limit.rlim_cur) {
    return EFBIG;
  }
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(descriptor, 0, size_bytes);
  return error;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SwapFile>> SwapFile::Create(
    const std::string& folder, const std::vector<int64_t>& offsets_bytes,
    int64_t size_bytes) {
  FileDescriptor opened = OpenUnlinked(folder);
  if (!opened.is_open()) {
    return FileError(errno, absl::StrCat("folder \"", folder, "\""),
                     "cannot hold a swap file", "name another");
  }
  const int error = Reserve(opened.get(), size_bytes);
  if (error != 0) {
    return FileError(
        error, absl::StrCat("folder \"", folder, "\""),
        absl::StrCat("cannot reserve ", size_bytes, " bytes for a swap file"),
        "make room or name another folder");
  }
  std::unique_ptr<SwapFile> file(new SwapFile(std::move(opened)));
  file->pieces_.reserve(offsets_bytes.size());
  for (const int64_t offset : offsets_bytes) {
    file->pieces_.push_back({offset, 0});
  }
  return file;
}

absl::Status SwapFile::Write(size_t piece, const void* data,
                             int64_t size_bytes) {
  Piece& written = pieces_[piece];
  if (!WriteAt(file_.get(), written.offset_bytes, data, size_bytes)) {
    return FileError(
        errno, "the swap file",
        absl::StrCat("cannot be written at byte ", written.offset_bytes));
  }
  written.fingerprint = Fingerprint(data, size_bytes);
  return absl::OkStatus();
}

absl::Status SwapFile::Read(size_t piece, void* data,
                            int64_t size_bytes) const {
  const Piece& read = pieces_[piece];
  const absl::Status status = ReadFully(file_.get(), "the swap file",
                                        read.offset_bytes, size_bytes, data);
  if (!status.ok()) return status;
  if (Fingerprint(data, size_bytes) == read.fingerprint) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "the swap file is damaged: the ", size_bytes, " bytes at byte ",
      read.offset_bytes, " are not those that were written"));
}

}  // namespace footprint
