#include "footprint/profiling/stages/file_stages.h"

#include <errno.h>
#include <sys/stat.h>

#include <atomic>

#include "footprint/profiling/stages/data_file_kinds.h"
#include "footprint/profiling/stages/stage_table.h"

namespace footprint::profiling_internal {
namespace {

constexpr int kMaxFiles = 4096;

std::atomic<bool> are_watched{false};
// Indexed by the file's descriptor.
std::atomic<int64_t> visits[kMaxFiles];

void BeginFileVisit(int file, const char* path) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (!MayEnterStages()) return;
  visits[file].store(BeginVisit(StageKind::kFile, path));
}

}  // namespace

void WatchFiles() { are_watched.store(true); }

void FileWasOpened(int file, const char* path) {
  if (!are_watched.load(std::memory_order_relaxed)) return;
  if (file < 0 || file >= kMaxFiles) return;
  const int error = errno;
  EndVisit(StageKind::kFile, TakeFileVisit(file));
  if (path != nullptr && IsDataFile(path)) BeginFileVisit(file, path);
  errno = error;
}

int64_t TakeFileVisit(int file) {
  if (file < 0 || file >= kMaxFiles ||
      visits[file].load(std::memory_order_relaxed) == 0) {
    return 0;
  }
  const int error = errno;
  const int64_t visit = MayEnterStages() ? visits[file].exchange(0) : 0;
  errno = error;
  return visit;
}

}  // namespace footprint::profiling_internal
