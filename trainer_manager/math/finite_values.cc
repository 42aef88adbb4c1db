#include "footprint/trainer_manager/math/finite_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace footprint {
namespace {

// Values are tested a block at a time, because compilers do not vectorise a
// loop that may end at each value.
constexpr int64_t kBlock = 4096;

bool AreFinite(const float* values, int64_t count) {
  int32_t others = 0;
  for (int64_t i = 0; i < count; ++i) {
    others |= std::abs(values[i]) <= std::numeric_limits<float>::max() ? 0 : 1;
  }
  return others == 0;
}

}  // namespace

int64_t FirstNotFinite(const float* values, int64_t count) {
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    if (AreFinite(values + begin, end - begin)) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (!std::isfinite(values[i])) return i;
    }
  }
  return -1;
}

}  // namespace footprint
