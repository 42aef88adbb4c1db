#include "footprint/profiling/resident/container_limit.h"

#include <algorithm>

namespace footprint {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kMarginDivisor = 20;

}  // namespace

ContainerLimit RecommendContainerLimit(const SharedOnce& seen,
                                       int64_t peak_resident_bytes) {
  ContainerLimit limit;
  if (seen.resident_sum_bytes == 0) return limit;
  // Grown since the look at which shared pages were told apart.
  const int64_t unseen_bytes =
      std::max<int64_t>(0, peak_resident_bytes - seen.resident_sum_bytes);
  limit.resident_bytes = seen.proportional_bytes - seen.agent_bytes +
                         seen.swapped_bytes + unseen_bytes;
  limit.kernel_bytes = seen.page_table_bytes + seen.kernel_stack_bytes;
  limit.margin_bytes =
      (limit.resident_bytes + limit.kernel_bytes) / kMarginDivisor;
  const int64_t sum_bytes =
      limit.resident_bytes + limit.kernel_bytes + limit.margin_bytes;
  limit.bytes = (sum_bytes + kMebibyte - 1) / kMebibyte * kMebibyte;
  return limit;
}

}  // namespace footprint
