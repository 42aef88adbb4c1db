// The most that an archive from a sender who may be hostile may take.
//
//   BundleLimits limits = LimitsOfArchive(int64_t{8} << 30);
//   limits.is_stopped = [&] { return server_ends.load(); };
//   ReadBundle("model.bundle", limits);
//
// Plain data and a pure function. Thread-compatible; `is_stopped` is called on
// the thread that reads. Memory: that of the function.

#ifndef FOOTPRINT_GATES_BUNDLES_BUNDLE_LIMITS_H_
#define FOOTPRINT_GATES_BUNDLES_BUNDLE_LIMITS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

namespace footprint {

struct BundleLimits {
  int64_t archive_bytes = int64_t{1} << 30;
  int64_t unpacked_bytes = int64_t{4} << 30;
  // Unpacked bytes for each byte of the archive, beyond the first MiB.
  int64_t most_expansion = 200;
  // Files and folders, including folders that occur only in the names of
  // others.
  int64_t entries = 10000;
  // The most bytes and the most parts of a name. The last part is the file
  // itself.
  int path_bytes = 512;
  int path_depth = 32;
  // The most time for one reading or unpacking of the bundle. An archive of
  // many small entries costs time, not bytes.
  int seconds = 300;
  // Called repeatedly; the work ends once it returns true. May be empty.
  std::function<bool()> is_stopped;
};

// Returns the default limits for archives of at most these bytes. For more than
// the default of 1 GiB, the unpacked bytes and the time grow in proportion.
inline BundleLimits LimitsOfArchive(int64_t most_archive_bytes) {
  BundleLimits limits;
  const int64_t most_times = std::numeric_limits<int>::max() / limits.seconds;
  const int64_t times =
      std::min(most_times, 1 + (most_archive_bytes - 1) / limits.archive_bytes);
  limits.archive_bytes = most_archive_bytes;
  if (times > 1) {
    limits.unpacked_bytes *= times;
    limits.seconds *= static_cast<int>(times);
  }
  return limits;
}

}  // namespace footprint

// Tested by bundle_test.

#endif  // FOOTPRINT_GATES_BUNDLES_BUNDLE_LIMITS_H_
