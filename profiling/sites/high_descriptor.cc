#include "footprint/profiling/sites/high_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace footprint::profiling_internal {
namespace {

constexpr int kHigh = 1000;

// Returns -1 if no number above the descriptor's is free.
int DuplicateHigh(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, kHigh);
  rlimit limit;
  if (high >= 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return high;
  // No number from kHigh up is free, so the numbers below are tried, the
  // highest first.
  for (int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, kHigh));
       end > descriptor + 1; --end) {
    const int number = fcntl(descriptor, F_DUPFD_CLOEXEC, end - 1);
    // EMFILE says that no number from there up is free, EINVAL that it is
    // beyond the limit, which another thread may have lowered.
    if (number >= 0 || (errno != EMFILE && errno != EINVAL)) return number;
  }
  return -1;
}

}  // namespace

int MoveUp(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int high = DuplicateHigh(descriptor);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

}  // namespace footprint::profiling_internal
