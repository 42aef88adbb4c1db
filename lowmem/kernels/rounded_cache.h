// Stores one head's keys or values of all positions, as floats or rounded.
//
//   footprint::CacheHead head = {CacheType::kQ8_0, data, features, positions};
//   RoundIntoCache(head, floats, stride, /*first=*/0, /*count=*/16);
//   WidenFromCache(head, 0, features, /*first=*/0, 16, floats, stride);
//
// A feature's positions lie side by side. kF16 keeps a binary16, off by at most
// 2^-11 of the number; numbers from 65520 on and NaNs become infinite, and
// subnormal ones (below 2^-14) are off by up to 2^-25. kQ8_0 keeps ggml's Q8_0
// along the features of a position, in groups of 32 and a last one that may be
// shorter: a number is off by at most 0.45 % of the largest magnitude of its
// group or, if that is below 0.008, by at most 0.4 % of it plus 3.8e-6
// (quantise_row.h). If the largest magnitude is 1e-5, that is more than a third
// of it. A group that holds a NaN or an infinity becomes NaNs; one with a
// magnitude from 8.3e6 on becomes infinities and NaNs.
//
// Thread-safe for different positions or heads. Nothing is allocated. Memory:
// CacheHeadBytes.

#ifndef FOOTPRINT_LOWMEM_KERNELS_ROUNDED_CACHE_H_
#define FOOTPRINT_LOWMEM_KERNELS_ROUNDED_CACHE_H_

#include <cstdint>

namespace footprint {

enum class CacheType { kF32, kF16, kQ8_0 };

// Returns "f32", "f16" or "q8_0".
const char* CacheTypeName(CacheType type);

// Returns the bytes of a head. `positions` must be even, so that the steps of
// Q8_0, which follow the numbers, are aligned.
int64_t CacheHeadBytes(CacheType type, int64_t features, int64_t positions);

// The memory of one head. `data` has CacheHeadBytes bytes, aligned for a float,
// and is the caller's. `positions` is how many it has room for.
struct CacheHead {
  CacheType type = CacheType::kF32;
  char* data = nullptr;
  int64_t features = 0;
  int64_t positions = 0;
};

// Writes all features of `count` positions from `first` on. Feature f of the
// i-th of them is values[f * stride + i].
void RoundIntoCache(const CacheHead& head, const float* values, int64_t stride,
                    int64_t first, int64_t count);

// Does the reverse: reads `features` features from `first_feature` on, of at
// most kMostWidenedPositions positions.
inline constexpr int64_t kMostWidenedPositions = 8 * 32;
void WidenFromCache(const CacheHead& head, int64_t first_feature,
                    int64_t features, int64_t first, int64_t count,
                    float* values, int64_t stride);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_ROUNDED_CACHE_H_
