#include "footprint/profiling/sites/growing_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "footprint/profiling/heap/system_mmap.h"
#include "footprint/profiling/sites/file_space.h"
#include "footprint/profiling/sites/high_descriptor.h"

namespace footprint::profiling_internal {
namespace {

// Bytes that are reserved on the disk at a time.
constexpr size_t kGrowthBytes = size_t{256} << 10;

// Returns whether the file would exceed the limit, which would end the program
// with a signal.
bool FileSizeIsLimited(size_t size_bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size_bytes;
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
  struct stat status;
  if (fstat(descriptor_, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  if (ftruncate(descriptor_, static_cast<off_t>(size_bytes)) != 0 ||
      ReserveFileSpace(descriptor_, 0, head_bytes) != 0) {
    Remove(folder, name);
    return nullptr;
  }
  void* const mapped = SystemMmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    Remove(folder, name);
    return nullptr;
  }
  // Without this the kernel fills the page cache around each first touch, which
  // costs 8 ms at a process's start on ext4.
  madvise(mapped, size_bytes, MADV_RANDOM);
  mapped_ = mapped;
  return mapped_;
}

// Removes the file, because a reader would take an empty file for a damaged
// one.
void GrowingFile::Remove(int folder, const char* name) {
  Close();
  unlinkat(folder, name, 0);
}

void GrowingFile::Close() {
  if (mapped_ != nullptr) syscall(SYS_munmap, mapped_, size_bytes_);
  if (HasDescriptor()) close(descriptor_);
  mapped_ = nullptr;
  size_bytes_ = 0;
  descriptor_ = -1;
}

bool GrowingFile::HasDescriptor() const {
  struct stat status;
  return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 &&
         status.st_dev == device_ && status.st_ino == inode_;
}

bool GrowingFile::TakeSpace(size_t offset_bytes, size_t size_bytes) {
  if (HasDescriptor() && !FileSizeIsLimited(size_bytes_)) {
    return ReserveFileSpace(descriptor_, offset_bytes, size_bytes) == 0;
  }
  // Linux 5.14's MADV_POPULATE_WRITE returns an error where a write would raise
  // a signal.
  constexpr int kPopulateByWriting = 23;
  constexpr size_t kPageMask = 4095;
  const size_t begin_bytes = offset_bytes & ~kPageMask;
  const size_t end_bytes =
      std::min(offset_bytes + size_bytes + kPageMask, size_bytes_) & ~kPageMask;
  return madvise(static_cast<char*>(mapped_) + begin_bytes,
                 end_bytes - begin_bytes, kPopulateByWriting) == 0;
}

// Several threads may reserve the same range at once, but no thread counts a
// range that is not reserved.
bool GrowingArray::Take(size_t wanted_bytes) {
  size_t taken_bytes = __atomic_load_n(&taken_bytes_, __ATOMIC_RELAXED);
  while (taken_bytes < wanted_bytes) {
    if (!file_->TakeSpace(offset_bytes_ + taken_bytes, kGrowthBytes)) {
      return false;
    }
    if (__atomic_compare_exchange_n(
            &taken_bytes_, &taken_bytes, taken_bytes + kGrowthBytes,
            /*weak=*/false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      taken_bytes += kGrowthBytes;
    }
  }
  return true;
}

}  // namespace footprint::profiling_internal
