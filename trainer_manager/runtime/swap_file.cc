#include "footprint/trainer_manager/runtime/swap_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/files/read_at.h"

namespace footprint {
namespace {

// A descriptor, or -1 with errno set.
int OpenUnlinked(const std::string& folder) {
  const int unnamed =
      open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (unnamed >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return unnamed;
  // A file system without unnamed files.
  std::string path = absl::StrCat(folder, "/swap.XXXXXX");
  const int named = mkostemp(&path[0], O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

// 0, or the error's number.
int Reserve(int descriptor, int64_t size_bytes) {
  // Beyond the limit, the system would end the program by a signal.
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<uint64_t>(size_bytes) > limit.rlim_cur) {
    return EFBIG;
  }
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(descriptor, 0, size_bytes);
  return error;
}

absl::Status Failed(int error, const char* what, int64_t offset_bytes) {
  return absl::ErrnoToStatus(
      error,
      absl::StrCat("cannot ", what, " the swap file at byte ", offset_bytes));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SwapFile>> SwapFile::Create(
    const std::string& folder, const std::vector<int64_t>& offsets_bytes,
    int64_t size_bytes) {
  const int descriptor = OpenUnlinked(folder);
  if (descriptor < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot make a swap file in folder \"", folder,
                            "\"; name another"));
  }
  std::unique_ptr<SwapFile> file(new SwapFile(descriptor));
  const int error = Reserve(descriptor, size_bytes);
  if (error != 0) {
    const std::string text = absl::StrCat(
        "cannot reserve ", size_bytes, " bytes for a swap file in folder \"",
        folder, "\"; make room or name another folder");
    const absl::Status status = absl::ErrnoToStatus(error, text);
    const bool full = error == ENOSPC || error == EFBIG || error == EDQUOT;
    return full ? absl::ResourceExhaustedError(status.message()) : status;
  }
  file->pieces_.reserve(offsets_bytes.size());
  for (const int64_t offset : offsets_bytes) {
    file->pieces_.push_back({offset, 0});
  }
  return file;
}

SwapFile::~SwapFile() { close(descriptor_); }

absl::Status SwapFile::Write(size_t piece, const void* data,
                             int64_t size_bytes) {
  Piece& written = pieces_[piece];
  const char* bytes = static_cast<const char*>(data);
  for (int64_t done = 0; done < size_bytes;) {
    const ssize_t count = pwrite(descriptor_, bytes + done,
                                 static_cast<size_t>(size_bytes - done),
                                 written.offset_bytes + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed(errno, "write", written.offset_bytes + done);
    done += count;
  }
  written.fingerprint = Fingerprint(data, size_bytes);
  return absl::OkStatus();
}

absl::Status SwapFile::Read(size_t piece, void* data,
                            int64_t size_bytes) const {
  const Piece& read = pieces_[piece];
  const int64_t got =
      lowmem_internal::ReadAt(descriptor_, read.offset_bytes, size_bytes, data);
  if (got < 0) return Failed(errno, "read", read.offset_bytes);
  if (got < size_bytes) {
    return absl::DataLossError(absl::StrCat(
        "the swap file is damaged: it ends at byte ", read.offset_bytes + got));
  }
  if (Fingerprint(data, size_bytes) == read.fingerprint) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "the swap file is damaged: the ", size_bytes, " bytes at byte ",
      read.offset_bytes, " are not those that were written"));
}

}  // namespace footprint
