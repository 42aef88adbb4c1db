#include "footprint/memo/schedule/load_costs.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace footprint::memo_internal {
namespace {

constexpr int64_t kNanosecondsPerMicrosecond = 1000;
// Times below this are noise.
constexpr int64_t kShortestMicroseconds = 100;
// This is one day. It limits each cost, so that costs do not overflow when
// added.
constexpr int64_t kLongestMicroseconds = int64_t{86'400} * 1'000'000;

}  // namespace

bool SetLoadCosts(const std::vector<int64_t>& load_nanoseconds,
                  std::vector<PlannedValue>* values) {
  std::vector<int64_t> microseconds;
  for (const int64_t nanoseconds : load_nanoseconds) {
    if (nanoseconds <= 0) return false;
    microseconds.push_back(std::clamp(nanoseconds / kNanosecondsPerMicrosecond,
                                      kShortestMicroseconds,
                                      kLongestMicroseconds));
  }
  std::vector<size_t> by_time(values->size());
  std::iota(by_time.begin(), by_time.end(), 0);
  std::stable_sort(by_time.begin(), by_time.end(), [&](size_t a, size_t b) {
    return microseconds[a] < microseconds[b];
  });
  // Groups values with similar times, and gives each group its mean.
  for (size_t begin = 0; begin < by_time.size();) {
    const int64_t shortest = microseconds[by_time[begin]];
    int64_t sum = 0;
    size_t end = begin;
    for (; end < by_time.size() &&
           microseconds[by_time[end]] < shortest + (shortest + 1) / 2;
         ++end) {
      sum += microseconds[by_time[end]];
    }
    const int64_t mean = sum / static_cast<int64_t>(end - begin);
    for (; begin < end; ++begin) (*values)[by_time[begin]].load_cost = mean;
  }
  return true;
}

}  // namespace footprint::memo_internal
