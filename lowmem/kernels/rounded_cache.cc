#include "footprint/lowmem/kernels/rounded_cache.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "footprint/base/simd/vector_targets.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/half_float.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/quantise_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lowmem/kernels/rounded_cache.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// values[i] = steps[i] * numbers[i]
void ScaleBytes(const int8_t* numbers, const float* steps, int64_t count,
                float* values) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> ints;
  const hn::Rebind<int8_t, decltype(d)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto whole = hn::PromoteTo(ints, hn::LoadU(bytes, numbers + i));
    hn::StoreU(hn::Mul(hn::LoadU(d, steps + i), hn::ConvertTo(d, whole)), d,
               values + i);
  }
  for (; i < count; ++i) values[i] = steps[i] * static_cast<float>(numbers[i]);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(ScaleBytes);

namespace {

constexpr int64_t kGroup = 32;
// A step that is not a number, as a binary16: any number of such steps is NaN.
constexpr uint16_t kNotANumber = 0x7e00;

int64_t GroupCount(int64_t features) {
  return (features + kGroup - 1) / kGroup;
}

// [group][position], after the numbers [feature][position].
uint16_t* StepsOf(const CacheHead& head) {
  return reinterpret_cast<uint16_t*>(head.data +
                                     head.features * head.positions);
}

// Rounds a group into a block of Q8_0.
void RoundGroup(const float (&numbers)[kGroup], uint8_t* block) {
  if (std::all_of(numbers, numbers + kGroup,
                  [](float number) { return std::isfinite(number); })) {
    QuantiseRow(DType::kQ8_0, numbers, kGroup, block);
    return;
  }
  std::memset(block, 0, sizeof(kNotANumber) + kGroup);
  std::memcpy(block, &kNotANumber, sizeof(kNotANumber));
}

void RoundQ8(const CacheHead& head, const float* values, int64_t stride,
             int64_t first, int64_t count) {
  uint16_t* const steps = StepsOf(head);
  for (int64_t feature = 0; feature < head.features; feature += kGroup) {
    const int64_t features = std::min(kGroup, head.features - feature);
    for (int64_t i = 0; i < count; ++i) {
      float numbers[kGroup] = {};
      for (int64_t f = 0; f < features; ++f) {
        numbers[f] = values[(feature + f) * stride + i];
      }
      uint8_t block[2 + kGroup];
      RoundGroup(numbers, block);
      std::memcpy(&steps[feature / kGroup * head.positions + first + i], block,
                  sizeof(uint16_t));
      for (int64_t f = 0; f < features; ++f) {
        head.data[(feature + f) * head.positions + first + i] =
            static_cast<char>(block[2 + f]);
      }
    }
  }
}

}  // namespace

const char* CacheTypeName(CacheType type) {
  switch (type) {
    case CacheType::kF16:
      return "f16";
    case CacheType::kQ8_0:
      return "q8_0";
    case CacheType::kF32:
      break;
  }
  return "f32";
}

int64_t CacheHeadBytes(CacheType type, int64_t features, int64_t positions) {
  switch (type) {
    case CacheType::kF16:
      return features * positions * int64_t{sizeof(uint16_t)};
    case CacheType::kQ8_0:
      return (features + GroupCount(features) * int64_t{sizeof(uint16_t)}) *
             positions;
    case CacheType::kF32:
      break;
  }
  return features * positions * int64_t{sizeof(float)};
}

void RoundIntoCache(const CacheHead& head, const float* values, int64_t stride,
                    int64_t first, int64_t count) {
  if (head.type == CacheType::kQ8_0) {
    RoundQ8(head, values, stride, first, count);
    return;
  }
  for (int64_t feature = 0; feature < head.features; ++feature) {
    const float* const from = values + feature * stride;
    const int64_t place = feature * head.positions + first;
    if (head.type == CacheType::kF32) {
      std::memcpy(reinterpret_cast<float*>(head.data) + place, from,
                  static_cast<size_t>(count) * sizeof(float));
      continue;
    }
    auto* const to = reinterpret_cast<uint16_t*>(head.data) + place;
    for (int64_t i = 0; i < count; ++i) to[i] = RoundToHalf(from[i]);
  }
}

void WidenFromCache(const CacheHead& head, int64_t first_feature,
                    int64_t features, int64_t first, int64_t count,
                    float* values, int64_t stride) {
  float steps[kMostWidenedPositions];
  for (int64_t f = 0; f < features; ++f) {
    const int64_t feature = first_feature + f;
    const int64_t place = feature * head.positions + first;
    float* const to = values + f * stride;
    if (head.type == CacheType::kF32) {
      std::memcpy(to, reinterpret_cast<const float*>(head.data) + place,
                  static_cast<size_t>(count) * sizeof(float));
    } else if (head.type == CacheType::kF16) {
      WidenToFloat(DType::kF16,
                   reinterpret_cast<const uint16_t*>(head.data) + place, count,
                   to);
    } else {
      if (f == 0 || feature % kGroup == 0) {
        const uint16_t* const halves =
            StepsOf(head) + feature / kGroup * head.positions + first;
        WidenToFloat(DType::kF16, halves, count, steps);
      }
      HWY_DYNAMIC_DISPATCH(ScaleBytes)
      (reinterpret_cast<const int8_t*>(head.data) + place, steps, count, to);
    }
  }
}

}  // namespace footprint
#endif  // HWY_ONCE
