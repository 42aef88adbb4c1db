#include "footprint/lowmem/streaming/disk_rate.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/machine/monotonic_time.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/base/threads/worker_team.h"

namespace footprint {
namespace {

constexpr int kThreads = 4;
constexpr int64_t kPieceBytes = int64_t{1} << 18;
constexpr int kIntervals = 4;
constexpr int64_t kIntervalNs = 50'000'000;

// Reads pieces of a file for one interval, all threads together.
class IntervalReader {
 public:
  IntervalReader(int descriptor, int64_t file_bytes, char* buffers)
      : descriptor_(descriptor),
        pieces_(std::max<int64_t>(1, file_bytes / kPieceBytes)),
        buffers_(buffers) {}

  // Returns the bytes that were read per second; 0 if a read failed.
  int64_t Measure(WorkerTeam* team) {
    bytes_ = 0;
    const int64_t begin_ns = MonotonicTimeNs();
    team->Run([this, begin_ns](int worker) {
      char* const buffer = buffers_ + worker * kPieceBytes;
      while (error_ == 0 && MonotonicTimeNs() - begin_ns < kIntervalNs) {
        ReadPiece(buffer);
      }
    });
    const int64_t elapsed_ns = MonotonicTimeNs() - begin_ns;
    if (error_ != 0) return 0;
    return static_cast<int64_t>(1e9 * static_cast<double>(bytes_) /
                                static_cast<double>(elapsed_ns));
  }

  int error() const { return error_; }

 private:
  void ReadPiece(char* buffer) {
    const int64_t piece = next_++ % pieces_;
    ssize_t bytes;
    do {
      bytes = pread(descriptor_, buffer, kPieceBytes, piece * kPieceBytes);
    } while (bytes < 0 && errno == EINTR);
    if (bytes > 0) {
      bytes_ += bytes;
    } else {
      error_ = bytes < 0 ? errno : ENODATA;
    }
  }

  const int descriptor_;
  const int64_t pieces_;
  char* const buffers_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> bytes_{0};
  std::atomic<int> error_{0};
};

// Returns whether there is a descriptor and its reads go past the page cache.
// Where the file system refuses that, a store has one that reads through it.
bool ReadsPastPageCache(int descriptor) {
  return descriptor >= 0 && (fcntl(descriptor, F_GETFL) & O_DIRECT) != 0;
}

}  // namespace

absl::StatusOr<int64_t> MeasureDiskRate(const WeightStore& store) {
  const std::string& name = store.index().file_name();
  if (!ReadsPastPageCache(store.direct_descriptor())) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, ": the disk's rate cannot be measured (", store.Description(),
        "); it takes --backend=direct and a file system that "
        "reads past the page cache"));
  }
  const off_t file_bytes = lseek(store.direct_descriptor(), 0, SEEK_END);
  if (file_bytes < 0) return FileError(errno, name, "has no size");
  const absl::StatusOr<MappedBlock> buffers =
      MappedBlock::Allocate(kThreads * kPieceBytes);
  if (!buffers.ok()) return buffers.status();
  WorkerTeam team(kThreads);
  if (team.size() < kThreads) {
    return absl::UnavailableError(
        "no threads to measure the disk's rate; raise the limit of threads");
  }
  IntervalReader reader(store.direct_descriptor(), file_bytes,
                        buffers->At<char>(0));
  int64_t best = 0;
  for (int i = 0; i < kIntervals; ++i) {
    best = std::max(best, reader.Measure(&team));
    if (reader.error() != 0) {
      return FileError(reader.error(), name, "cannot be read");
    }
  }
  return best;
}

}  // namespace footprint
