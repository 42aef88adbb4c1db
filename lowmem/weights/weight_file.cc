#include "footprint/lowmem/weights/weight_file.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/read_at.h"
#include "footprint/base/files/regular_file.h"

namespace footprint::lowmem_internal {
namespace {

int64_t Nanoseconds(const struct timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// File times move in ticks of a few milliseconds: a write in the tick of the
// last one would leave the same stamp. Waits until that tick is over.
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

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

Descriptor::~Descriptor() {
  if (value_ >= 0) close(value_);
}

absl::StatusOr<WeightFile> WeightFile::Open(absl::string_view path) {
  const std::string name(path);
  WeightFile file;
  const absl::StatusOr<int> opened = OpenRegularFile(name);
  if (!opened.ok()) return opened.status();
  file.descriptor_ = Descriptor(*opened);
  // The stamp first: what changes while the header is read shows later.
  if (fstat(file.descriptor(), &file.opened_) != 0) {
    return absl::UnavailableError(
        absl::StrCat(name, ": no status: ", strerror(errno)));
  }
  OutliveTick(file.opened_);
  absl::StatusOr<SafetensorsIndex> index =
      SafetensorsIndex::Read(file.descriptor(), name);
  if (!index.ok()) return index.status();
  file.index_ = *std::move(index);
  absl::Status unchanged = file.CheckUnchanged();
  if (!unchanged.ok()) return unchanged;
  return file;
}

absl::Status WeightFile::CheckUnchanged() const {
  struct stat now;
  if (fstat(descriptor(), &now) != 0) {
    return absl::UnavailableError(
        absl::StrCat(name(), ": no status: ", strerror(errno)));
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

absl::Status ReadFully(int descriptor, const std::string& name, int64_t offset,
                       int64_t size, void* destination) {
  const int64_t got = ReadAt(descriptor, offset, size, destination);
  if (got < 0) {
    return absl::UnavailableError(absl::StrCat(
        name, ": cannot read ", size, " bytes at ", offset, ": ",
        strerror(errno), "; check the disk's health and the system's log"));
  }
  if (got < size) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, ": ends at byte ", offset + got,
        ", so it was shortened while it was in use; open it again"));
  }
  return absl::OkStatus();
}

}  // namespace footprint::lowmem_internal
