#include "footprint/lowmem/kernels/int8_product.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/vector_targets.h"
#include "footprint/lowmem/kernels/half_float.h"
#include "footprint/lowmem/kernels/quantised_types.h"
#include "footprint/lowmem/kernels/six_bit_scales.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lowmem/kernels/int8_product.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "hwy/highway.h"

// Highway chooses the instruction set, and a test may exclude some of them. Not
// every version of Highway knows VNNI, so FindInstructions asks the processor
// for that.
HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {

int WidestBytes() {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return 1;
#else
  return static_cast<int>(
      hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<uint8_t>()));
#endif
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#if HWY_ARCH_X86
#include <immintrin.h>
#endif

namespace footprint {
namespace {

// Every type's numbers come in groups of 32.
constexpr int64_t kGroup = 32;
// A record has one group of the features of sixteen tokens: eight quads, then
// the tokens' steps, then the sums of both halves of the group.
constexpr int64_t kRecordBytes = 640;
constexpr int64_t kStepsOffset = 512;
constexpr int64_t kHalvesOffset = 576;

// Describes the blocks of a type. The kernels multiply unsigned numbers, which
// are kOffset more than the numbers that they stand for.
template <int kElementsOf, int kBytesOf, int kOffsetOf, bool kHasLeastValue>
struct FormatOf {
  static constexpr bool kIsLarge = kElementsOf > kGroup;
  static constexpr int kElements = kElementsOf;
  static constexpr int kBytes = kBytesOf;
  static constexpr int kOffset = kOffsetOf;
  static constexpr bool kHasLeast = kHasLeastValue;
};
template <DType kType>
struct Int8Format;
template <>
struct Int8Format<DType::kQ8_0> : FormatOf<32, 34, 128, false> {};
template <>
struct Int8Format<DType::kQ4_0> : FormatOf<32, 18, 8, false> {};
template <>
struct Int8Format<DType::kQ4_1> : FormatOf<32, 20, 0, true> {};
template <>
struct Int8Format<DType::kQ5_0> : FormatOf<32, 22, 16, false> {};
template <>
struct Int8Format<DType::kQ5_1> : FormatOf<32, 24, 0, true> {};
template <>
struct Int8Format<DType::kQ4K> : FormatOf<kSumBlock, 144, 0, true> {};
template <>
struct Int8Format<DType::kQ5K> : FormatOf<kSumBlock, 176, 0, true> {};
template <>
struct Int8Format<DType::kQ6K> : FormatOf<kSumBlock, 210, 32, false> {};

// One token's rounded features.
struct VectorView {
  const int8_t* numbers;
  const float* steps;
  // The sums of both halves of a group, as pairs of sixteen bits.
  const int32_t* halves;
};

int64_t PaddedColumns(int64_t columns) { return AlignUp(columns, kSumBlock); }

// The place of one token's features while they are rounded.
struct VectorPlace {
  int8_t* numbers;
  float* steps;
  int32_t* halves;
};

// Returns the offset of the halves in bytes. They come after the steps, which
// come after the padded numbers.
int64_t HalvesOffset(int64_t columns) {
  const int64_t padded = PaddedColumns(columns);
  return padded + padded / kGroup * int64_t{sizeof(float)};
}

VectorView ViewOf(const char* rounded, int64_t columns, int64_t first) {
  const char* const steps = rounded + PaddedColumns(columns);
  const char* const halves = rounded + HalvesOffset(columns);
  return {reinterpret_cast<const int8_t*>(rounded) + first,
          reinterpret_cast<const float*>(steps) + first / kGroup,
          reinterpret_cast<const int32_t*>(halves) + first / kGroup};
}

VectorPlace PlaceOf(char* rounded, int64_t columns) {
  return {reinterpret_cast<int8_t*>(rounded),
          reinterpret_cast<float*>(rounded + PaddedColumns(columns)),
          reinterpret_cast<int32_t*>(rounded + HalvesOffset(columns))};
}

HWY_INLINE uint32_t BitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
HWY_INLINE float FloatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}
// Returns the bits without the sign. As integers they have the order of the
// magnitudes, with NaNs above all numbers.
HWY_INLINE uint32_t MagnitudeBits(float x) { return BitsOf(x) & 0x7fffffffu; }

struct RoundingStep {
  float step;
  float per_step;
  uint32_t mask;  // is ANDed with the numbers; zero if all become zero
};

HWY_INLINE RoundingStep FindRoundingStep(uint32_t largest) {
  constexpr uint32_t kInfinite = 0x7f800000;
  constexpr uint32_t kSmall = 0x03aa2425;  // 1e-36
  const float magnitude = FloatOf(largest);
  const bool is_number = largest < kInfinite;
  const bool is_large = is_number && largest >= kSmall;
  RoundingStep step;
  step.step = is_large    ? magnitude / 127.0f
              : is_number ? 0.0f
                          : std::numeric_limits<float>::quiet_NaN();
  step.per_step = is_large ? 127.0f / magnitude : 0.0f;
  step.mask = is_large ? ~0u : 0u;
  return step;
}

// Returns the nearest whole number of steps. The addition rounds, since a float
// of the size of kNoFractions (1.5 * 2^23) has no bits for fractions.
HWY_INLINE int32_t RoundNumber(float x, const RoundingStep& step) {
  constexpr float kNoFractions = 12582912.0f;
  const float moved = x * step.per_step + kNoFractions;
  const uint32_t number = BitsOf(moved) - BitsOf(kNoFractions);
  return static_cast<int32_t>(number & step.mask);
}

HWY_INLINE int32_t PackHalves(int32_t first, int32_t second) {
  return static_cast<int32_t>((static_cast<uint32_t>(first) & 0xffff) |
                              static_cast<uint32_t>(second) << 16);
}

HWY_INLINE float HalfToFloat(const uint8_t* at) {
  uint16_t half;
  std::memcpy(&half, at, sizeof(half));
  return WidenFloat16(half);
}

}  // namespace
}  // namespace footprint

#define FOOTPRINT_INT8_INLINE HWY_INLINE

#define FOOTPRINT_INT8_LEVEL 0
#define FOOTPRINT_INT8_NAMESPACE plain_int8
#define FOOTPRINT_INT8_LAMBDA
#include "footprint/lowmem/kernels/int8_kernels-inl.h"
#undef FOOTPRINT_INT8_LEVEL
#undef FOOTPRINT_INT8_NAMESPACE
#undef FOOTPRINT_INT8_LAMBDA

#if HWY_ARCH_X86

#define FOOTPRINT_INT8_AVX2 "sse4.2,avx,avx2,f16c"
#define FOOTPRINT_INT8_VNNI \
  FOOTPRINT_INT8_AVX2 ",avx512f,avx512vl,avx512dq,avx512bw,avx512vnni"

#define FOOTPRINT_INT8_LEVEL 1
#define FOOTPRINT_INT8_NAMESPACE avx2_int8
#define FOOTPRINT_INT8_LAMBDA __attribute__((target(FOOTPRINT_INT8_AVX2)))
HWY_PUSH_ATTRIBUTES(FOOTPRINT_INT8_AVX2)
#include "footprint/lowmem/kernels/int8_kernels-inl.h"
HWY_POP_ATTRIBUTES
#undef FOOTPRINT_INT8_LEVEL
#undef FOOTPRINT_INT8_NAMESPACE
#undef FOOTPRINT_INT8_LAMBDA

#define FOOTPRINT_INT8_LEVEL 2
#define FOOTPRINT_INT8_NAMESPACE vnni_int8
#define FOOTPRINT_INT8_LAMBDA __attribute__((target(FOOTPRINT_INT8_VNNI)))
#if HWY_COMPILER_GCC_ACTUAL
// GCC's own headers of AVX-512 leave registers unset on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
HWY_PUSH_ATTRIBUTES(FOOTPRINT_INT8_VNNI)
#include "footprint/lowmem/kernels/int8_kernels-inl.h"
HWY_POP_ATTRIBUTES
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic pop
#endif

#endif  // HWY_ARCH_X86

namespace footprint {

HWY_EXPORT(WidestBytes);

namespace {

enum class Instructions { kPlain, kAvx2, kVnni };

Instructions FindInstructions() {
#if HWY_ARCH_X86
  const int bytes = HWY_DYNAMIC_DISPATCH(WidestBytes)();
  if (bytes >= 64 && __builtin_cpu_supports("avx512vnni")) {
    return Instructions::kVnni;
  }
  if (bytes >= 32) return Instructions::kAvx2;
#endif
  return Instructions::kPlain;
}

#if HWY_ARCH_X86
#define FOOTPRINT_INT8_CALL(call) \
  switch (FindInstructions()) {   \
    case Instructions::kVnni:     \
      return vnni_int8::call;     \
    case Instructions::kAvx2:     \
      return avx2_int8::call;     \
    case Instructions::kPlain:    \
      return plain_int8::call;    \
  }
#else
#define FOOTPRINT_INT8_CALL(call) return plain_int8::call
#endif

// Calls `use` with the type as a constant. Ends the program for a type without
// products (HasInt8Product).
template <class Use>
void ForInt8Type(DType type, const Use& use) {
  if (ForQuantisedType(type, use)) return;
  std::fprintf(stderr, "no products of whole numbers on %s\n",
               DTypeName(type).data());
  std::abort();
}

}  // namespace

bool HasInt8Product(DType type) {
  return ForQuantisedType(type, [](auto) {});
}

int64_t Int8Bytes(int64_t columns, int64_t tokens) {
  constexpr int64_t kFactorBytes = 2 * int64_t{sizeof(float)};
  if (tokens == 1) {
    const int64_t padded = PaddedColumns(columns);
    return padded + padded / kGroup * kFactorBytes;
  }
  return AlignUp(tokens, kPanelWidth) / kPanelWidth *
         (AlignUp(columns, kGroup) / kGroup) * kRecordBytes;
}

int64_t Int8RowBytes(int64_t columns) {
  return columns + columns / kGroup * 3 * int64_t{sizeof(float)};
}

void RoundVector(const float* input, int64_t columns, char* rounded) {
  const VectorPlace place = PlaceOf(rounded, columns);
  const int64_t padded = PaddedColumns(columns);
  std::memset(rounded + columns, 0, static_cast<size_t>(padded - columns));
  for (int64_t group = columns / kGroup; group < padded / kGroup; ++group) {
    place.steps[group] = 0;
    place.halves[group] = 0;
  }
  FOOTPRINT_INT8_CALL(RoundVector(input, columns, place))
}

void RoundPanels(const PanelView& input, int64_t columns, int64_t panels,
                 char* rounded) {
  FOOTPRINT_INT8_CALL(RoundPanels(input, columns, panels, rounded))
}

void MultiplyInt8Vector(const QuantisedView& matrix, const RoundedView& input,
                        const Epilogue& epilogue, float* output,
                        int64_t output_stride) {
  const VectorView view = ViewOf(input.data, input.columns, input.first_column);
  ForInt8Type(matrix.type, [&](auto constant) {
    constexpr DType kType = decltype(constant)::value;
    FOOTPRINT_INT8_CALL(MultiplyVectorTyped<kType>(matrix, view, epilogue,
                                                   output, output_stride))
  });
}

void MultiplyInt8Panels(const QuantisedView& matrix, const RoundedView& input,
                        int64_t panels, const Epilogue& epilogue,
                        const PanelOutput& output, char* scratch) {
  ForInt8Type(matrix.type, [&](auto constant) {
    constexpr DType kType = decltype(constant)::value;
    FOOTPRINT_INT8_CALL(MultiplyPanelsTyped<kType>(matrix, input, panels,
                                                   epilogue, output, scratch))
  });
}

const char* Int8InstructionsName() {
  switch (FindInstructions()) {
    case Instructions::kVnni:
      return "AVX-512 VNNI";
    case Instructions::kAvx2:
      return "AVX2";
    case Instructions::kPlain:
      break;
  }
  return "plain C++";
}

}  // namespace footprint

#endif  // HWY_ONCE
