#include "footprint/profiling/outside/paced_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "footprint/base/machine/monotonic_time.h"

namespace footprint {
namespace {

constexpr std::chrono::nanoseconds kLongestPause =
    std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds kShortestPause =
    std::chrono::milliseconds(1);

}  // namespace

PacedWatch::PacedWatch(const MemoryGroup* group) : watch_(getpid(), group) {}

bool PacedWatch::Look() {
  if (Clock::now() < next_) return false;
  // The cost is the thread's own time, because on a busy machine the clock also
  // counts waiting.
  const int64_t begin_ns = ThreadProcessorTimeNs();
  watch_.Look();
  const auto cost =
      std::chrono::nanoseconds(ThreadProcessorTimeNs() - begin_ns);
  const Clock::time_point now = Clock::now();
  const Clock::duration since_begin = (now - begin_) / 10;
  next_ = now + std::min<Clock::duration>(
                    {19 * cost, kLongestPause,
                     std::max<Clock::duration>(since_begin, kShortestPause)});
  return true;
}

}  // namespace footprint
