#include "footprint/gates/judge/headroom.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/types/optional.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {

int64_t AddUpToLargest(int64_t value, int64_t more) {
  int64_t sum = 0;
  return __builtin_add_overflow(value, more, &sum)
             ? std::numeric_limits<int64_t>::max() - 1
             : sum;
}

absl::optional<int64_t> ComputeMaximum(const Headroom& headroom,
                                       MetricKind metric, int64_t measured) {
  constexpr double kMost = 9e18;  // below the largest int64_t
  switch (headroom.above_case()) {
    case Headroom::kExact:
      return measured;
    case Headroom::kPercent:
      return AddUpToLargest(
          measured,
          static_cast<int64_t>(std::min(
              kMost, std::ceil(std::fabs(static_cast<double>(measured)) *
                               headroom.percent() / 100))));
    case Headroom::kBytes:
      if (UnitOfMetric(metric) != MetricUnit::kBytes) return absl::nullopt;
      return AddUpToLargest(measured, headroom.bytes());
    case Headroom::ABOVE_NOT_SET:
      return absl::nullopt;
  }
  return absl::nullopt;
}

}  // namespace footprint
