#include "footprint/profiling/sites/growing_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace footprint::profiling_internal {
namespace {

// Taken from the disk at a time.
constexpr size_t kGrowthBytes = size_t{256} << 10;

// A file beyond the limit would end the program by a signal.
bool FileSizeIsLimited(size_t size_bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size_bytes;
}

// Out of the way of programs that count on the numbers of their files.
int MoveUp(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 1000);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

}  // namespace

void* GrowingFile::Create(int folder, const char* name, size_t size_bytes,
                          size_t head_bytes) {
  if (FileSizeIsLimited(size_bytes)) return nullptr;
  const int file =
      openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  descriptor_ = MoveUp(file);
  size_bytes_ = size_bytes;
  if (ftruncate(descriptor_, static_cast<off_t>(size_bytes)) != 0 ||
      posix_fallocate(descriptor_, 0, static_cast<off_t>(head_bytes)) != 0) {
    Close();
    return nullptr;
  }
  // Not by mmap, whose entry point counts what the program maps.
  void* const mapped = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, size_bytes, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_NORESERVE, descriptor_, 0));
  if (mapped == MAP_FAILED) {
    Close();
    return nullptr;
  }
  mapped_ = mapped;
  return mapped_;
}

void GrowingFile::Close() {
  if (mapped_ != nullptr) syscall(SYS_munmap, mapped_, size_bytes_);
  if (descriptor_ >= 0) close(descriptor_);
  mapped_ = nullptr;
  size_bytes_ = 0;
  descriptor_ = -1;
}

bool GrowingArray::Take(size_t wanted_bytes) {
  while (taken_bytes_ < wanted_bytes) {
    if (posix_fallocate(file_->descriptor_,
                        static_cast<off_t>(offset_bytes_ + taken_bytes_),
                        kGrowthBytes) != 0) {
      return false;
    }
    taken_bytes_ += kGrowthBytes;
  }
  return true;
}

}  // namespace footprint::profiling_internal
