#include "footprint/profiling/sites/high_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace footprint::profiling_internal {
namespace {

// Returns -1 if no number above the descriptor's is free.
int DuplicateHigh(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 1000);
  rlimit limit;
  if (high >= 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return high;
  for (rlim_t end = limit.rlim_cur; end > static_cast<rlim_t>(descriptor) + 1;
       --end) {
    const int number =
        fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(end - 1));
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
