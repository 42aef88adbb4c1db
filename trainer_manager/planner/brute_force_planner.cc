#include "footprint/trainer_manager/planner/brute_force_planner.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace footprint {

int64_t MinimumHeightByBruteForce(const std::vector<TensorRequest>& requests) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<int64_t> tops(requests.size());
  int64_t least = std::numeric_limits<int64_t>::max();
  do {
    int64_t height = 0;
    for (size_t i = 0; i < order.size() && height < least; ++i) {
      const TensorRequest& request = requests[order[i]];
      int64_t offset = 0;
      for (size_t j = 0; j < i; ++j) {
        const TensorRequest& other = requests[order[j]];
        if (other.lower_step < request.upper_step &&
            request.lower_step < other.upper_step) {
          offset = std::max(offset, tops[order[j]]);
        }
      }
      while (offset % request.alignment_bytes != 0) ++offset;
      tops[order[i]] = offset + request.size_bytes;
      height = std::max(height, tops[order[i]]);
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

}  // namespace footprint
