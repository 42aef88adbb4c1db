#include "footprint/gates/server/rate_limit.h"

#include <algorithm>

namespace footprint {
double RateLimit::CountAt(const Left& left, double now_seconds) const {
  const double passed = std::max(0.0, now_seconds - left.at_seconds);
  return std::min(most_at_once_, left.count + passed * per_second_);
}

double RateLimit::Take(const std::string& name, double now_seconds) {
  MutexLock lock(&mutex_);
  Left& left =
      left_.try_emplace(name, Left{most_at_once_, now_seconds}).first->second;
  left.count = CountAt(left, now_seconds);
  left.at_seconds = now_seconds;
  if (left.count < 1) return (1 - left.count) / per_second_;
  left.count -= 1;
  return 0;
}

}  // namespace footprint
