#include "footprint/base/files/watched_file.h"

#include <time.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"

namespace footprint {
namespace {

int64_t Nanoseconds(const struct timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Waits until the tick of the last write is over. File times advance in ticks
// of a few milliseconds, so another write in the same tick would leave the same
// time stamp.
void OutliveTick(const struct stat& status) {
  struct timespec tick, now;
  if (clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0) return;
  const int64_t stamp = Nanoseconds(status.st_mtim);
  for (;;) {
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return;
    const int64_t age = Nanoseconds(now) - stamp;
    // A stamp from the future was set by hand, and waiting would not help.
    if (age > 0 || age < -Nanoseconds(tick)) return;
    nanosleep(&tick, nullptr);
  }
}

}  // namespace

absl::StatusOr<WatchedFile> WatchedFile::Open(absl::string_view path,
                                              Watch watch) {
  WatchedFile file;
  file.name_ = std::string(path);
  absl::StatusOr<FileDescriptor> opened = OpenRegularFile(file.name_);
  if (!opened.ok()) return opened.status();
  file.file_ = *std::move(opened);
  // The stamp is read first, so that a change during the read shows later.
  if (fstat(file.descriptor(), &file.opened_) != 0) {
    return FileError(errno, file.name_, "no status");
  }
  if (watch == Watch::kStrictly) OutliveTick(file.opened_);
  return file;
}

absl::Status WatchedFile::CheckUnchanged() const {
  struct stat now;
  if (fstat(descriptor(), &now) != 0) {
    return FileError(errno, name(), "no status");
  }
  const char* what = nullptr;
  if (now.st_size != opened_.st_size) {
    what = now.st_size < opened_.st_size ? "shortened" : "lengthened";
  } else if (now.st_nlink == 0 || now.st_nlink < opened_.st_nlink) {
    what = "replaced or removed";
  } else if (Nanoseconds(now.st_mtim) != Nanoseconds(opened_.st_mtim)) {
    what = "written to";
  }
  if (what == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(name(), ": was ", what,
                   " while it was in use; open it again, and replace weight "
                   "files only between runs"));
}

absl::Status WatchedFile::Read(int64_t offset_bytes, int64_t size_bytes,
                               void* destination) const {
  const absl::Status status =
      ReadFully(descriptor(), name(), offset_bytes, size_bytes, destination);
  if (!absl::IsDataLoss(status)) return status;
  struct stat now = {};
  fstat(descriptor(), &now);
  return ShortenedError(now.st_size);
}

absl::Status WatchedFile::ShortenedError(int64_t end_bytes) const {
  return absl::FailedPreconditionError(
      absl::StrCat(name(), ": ends at byte ", end_bytes,
                   ", so it was shortened while it was in use; open it again"));
}

}  // namespace footprint
