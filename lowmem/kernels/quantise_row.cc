#include "footprint/lowmem/kernels/quantise_row.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "footprint/lowmem/kernels/half_float.h"

namespace footprint {
namespace {

constexpr int64_t kBlock = 32;

void PutHalf(float value, uint8_t* at) {
  // A step beyond the largest half becomes infinite.
  constexpr float kBeyond = 65520.0f;
  const uint16_t half = std::fabs(value) < kBeyond ? RoundToFloat16(value)
                        : value < 0                ? 0xfc00
                                                   : 0x7c00;
  std::memcpy(at, &half, sizeof(half));
}

// A step that is zero, or so small that its inverse is infinite, is stored as
// zero. The numbers of its block do not matter, but must be finite.
float Inverse(float step) {
  const float inverse = 1.0f / step;
  return std::isfinite(inverse) ? inverse : 0.0f;
}

void QuantiseQ8(const float* source, uint8_t* block) {
  float largest = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    largest = std::max(largest, std::fabs(source[i]));
  }
  const float step = largest / 127.0f;
  const float per_step = Inverse(step);
  PutHalf(step, block);
  for (int64_t i = 0; i < kBlock; ++i) {
    // Ties are rounded away from zero.
    const float number = std::round(source[i] * per_step);
    block[2 + i] = static_cast<uint8_t>(static_cast<int8_t>(number));
  }
}

void QuantiseQ4(const float* source, uint8_t* block) {
  float largest = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    if (std::fabs(source[i]) > std::fabs(largest)) largest = source[i];
  }
  const float step = largest / -8.0f;
  const float per_step = Inverse(step);
  PutHalf(step, block);
  const auto number = [&](int64_t i) {
    const float moved = source[i] * per_step + 8.5f;
    return static_cast<uint8_t>(std::min(15.0f, std::max(0.0f, moved)));
  };
  for (int64_t i = 0; i < kBlock / 2; ++i) {
    block[2 + i] =
        static_cast<uint8_t>(number(i) | number(i + kBlock / 2) << 4);
  }
}

}  // namespace

void QuantiseRow(DType type, const float* source, int64_t count,
                 uint8_t* destination) {
  if (type != DType::kQ8_0 && type != DType::kQ4_0) {
    std::fprintf(stderr, "floats are not quantised to %s\n",
                 DTypeName(type).data());
    std::abort();
  }
  for (int64_t i = 0; i < count; i += kBlock) {
    (type == DType::kQ8_0 ? QuantiseQ8 : QuantiseQ4)(source + i, destination);
    destination += BlockOf(type).bytes;
  }
}

}  // namespace footprint
