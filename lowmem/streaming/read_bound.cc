#include "footprint/lowmem/streaming/read_bound.h"

#include <algorithm>
#include <cstdint>

namespace footprint {

int64_t ReadBound::LeastBytesOfPass() const {
  return std::max<int64_t>(0, pass_bytes - memory_bytes);
}

int64_t ReadBound::LeastBytes(int64_t passes) const {
  if (passes < 1) return 0;
  return pass_bytes + (passes - 1) * LeastBytesOfPass();
}

ReadBound BoundReads(const WeightStore& store, int64_t pass_bytes,
                     int64_t peak_bytes) {
  const bool is_resident = store.backend() == WeightBackend::kResident;
  return {pass_bytes, peak_bytes + (is_resident ? pass_bytes : 0)};
}

}  // namespace footprint
