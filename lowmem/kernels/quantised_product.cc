#include "footprint/lowmem/kernels/quantised_product.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/vector_targets.h"
#include "footprint/lowmem/kernels/half_float.h"
#include "footprint/lowmem/kernels/quantised_types.h"
#include "footprint/lowmem/kernels/six_bit_scales.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lowmem/kernels/quantised_product.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// These must come after foreach_target.h.
#include "footprint/lowmem/kernels/sixteen_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<FloatTag>;
using UnsignedTag = hn::RebindToUnsigned<FloatTag>;
using IntVector = hn::Vec<IntTag>;
using ByteTag = hn::Rebind<uint8_t, FloatTag>;
using SignedByteTag = hn::Rebind<int8_t, FloatTag>;

// Every type's values come in groups of 32.
constexpr int64_t kGroup = 32;
constexpr int kGroupVectors = static_cast<int>(kGroup) / kLanes;
constexpr int kHalfVectors = kGroupVectors / 2;
using Group = FloatVector[kGroupVectors];

HWY_INLINE float LoadHalf(const uint8_t* at) {
  uint16_t half;
  std::memcpy(&half, at, sizeof(half));
  return WidenFloat16(half);
}

HWY_INLINE IntVector LoadBytes(const uint8_t* at) {
  return hn::PromoteTo(IntTag(), hn::LoadU(ByteTag(), at));
}

// A number of four bits: the low or the high half of a byte, by the parity of
// its place.
template <bool kHigh>
HWY_INLINE IntVector Nibbles(IntVector bytes) {
  return kHigh ? hn::ShiftRight<4>(bytes)
               : hn::And(bytes, hn::Set(IntTag(), 15));
}

// Bit e of `bits` for element e of a group, as 0 or 16.
HWY_INLINE IntVector FifthBits(uint32_t bits, int vector) {
  const UnsignedTag d;
  const auto places = hn::Iota(d, static_cast<uint32_t>(vector * kLanes));
  const auto bit = hn::And(hn::Shr(hn::Set(d, bits), places), hn::Set(d, 1u));
  return hn::BitCast(IntTag(), hn::ShiftLeft<4>(bit));
}

HWY_INLINE FloatVector Scaled(IntVector number, float scale) {
  const FloatTag d;
  return hn::Mul(hn::ConvertTo(d, number), hn::Set(d, scale));
}
HWY_INLINE FloatVector ScaledAndMoved(IntVector number, float scale,
                                      float least) {
  return hn::Add(Scaled(number, scale), hn::Set(FloatTag(), least));
}

// The sixteen values that four bits stand for. If a vector holds them all, they
// are looked up and not computed for each weight. `first` is the value of 0, in
// steps.
class SixteenValues {
 public:
  static constexpr bool kFits = kLanes == 16;

  HWY_INLINE SixteenValues(int first, float scale, float least)
      : values_(ScaledAndMoved(Numbers(first), scale, least)) {}
  HWY_INLINE SixteenValues(int first, float scale)
      : values_(Scaled(Numbers(first), scale)) {}
  HWY_INLINE FloatVector Find(IntVector nibbles) const {
    return hn::TableLookupLanes(values_,
                                hn::IndicesFromVec(FloatTag(), nibbles));
  }

 private:
  static HWY_INLINE IntVector Numbers(int first) {
    return hn::Iota(IntTag(), first);
  }
  FloatVector values_;
};

// A block whose values are asked for a group at a time.
template <DType kType>
class Block;

template <>
class Block<DType::kQ8_0> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at)
      : numbers_(at + 2), scale_(LoadHalf(at)) {}
  HWY_INLINE void Decode(int, Group& group) const {
    const SignedByteTag bytes;
    for (int i = 0; i < kGroupVectors; ++i) {
      const auto stored = hn::LoadU(
          bytes, reinterpret_cast<const int8_t*>(numbers_) + i * kLanes);
      group[i] = Scaled(hn::PromoteTo(IntTag(), stored), scale_);
    }
  }

 private:
  const uint8_t* numbers_;
  float scale_;
};

template <>
class Block<DType::kQ4_0> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at)
      : numbers_(at + 2), scale_(LoadHalf(at)) {}
  HWY_INLINE void Decode(int, Group& group) const {
    if (SixteenValues::kFits) {
      const SixteenValues values(-8, scale_);
      const IntVector bytes = LoadBytes(numbers_);
      group[0] = values.Find(Nibbles<false>(bytes));
      group[kHalfVectors] = values.Find(Nibbles<true>(bytes));
      return;
    }
    const IntVector eight = hn::Set(IntTag(), 8);
    for (int i = 0; i < kHalfVectors; ++i) {
      const IntVector bytes = LoadBytes(numbers_ + i * kLanes);
      group[i] = Scaled(hn::Sub(Nibbles<false>(bytes), eight), scale_);
      group[i + kHalfVectors] =
          Scaled(hn::Sub(Nibbles<true>(bytes), eight), scale_);
    }
  }

 private:
  const uint8_t* numbers_;
  float scale_;
};

template <>
class Block<DType::kQ4_1> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at)
      : numbers_(at + 4), scale_(LoadHalf(at)), least_(LoadHalf(at + 2)) {}
  HWY_INLINE void Decode(int, Group& group) const {
    if (SixteenValues::kFits) {
      const SixteenValues values(0, scale_, least_);
      const IntVector bytes = LoadBytes(numbers_);
      group[0] = values.Find(Nibbles<false>(bytes));
      group[kHalfVectors] = values.Find(Nibbles<true>(bytes));
      return;
    }
    for (int i = 0; i < kHalfVectors; ++i) {
      const IntVector bytes = LoadBytes(numbers_ + i * kLanes);
      group[i] = ScaledAndMoved(Nibbles<false>(bytes), scale_, least_);
      group[i + kHalfVectors] =
          ScaledAndMoved(Nibbles<true>(bytes), scale_, least_);
    }
  }

 private:
  const uint8_t* numbers_;
  float scale_;
  float least_;
};

// Numbers of five bits: four lie in halves of bytes, the fifth in a word of its
// own.
class FiveBits {
 public:
  HWY_INLINE FiveBits(const uint8_t* fifth, const uint8_t* halves)
      : halves_(halves) {
    std::memcpy(&fifth_, fifth, sizeof(fifth_));
  }
  HWY_INLINE void Decode(IntVector (&numbers)[kGroupVectors]) const {
    for (int i = 0; i < kHalfVectors; ++i) {
      const IntVector bytes = LoadBytes(halves_ + i * kLanes);
      const int high = i + kHalfVectors;
      numbers[i] = hn::Or(Nibbles<false>(bytes), FifthBits(fifth_, i));
      numbers[high] = hn::Or(Nibbles<true>(bytes), FifthBits(fifth_, high));
    }
  }

 private:
  const uint8_t* halves_;
  uint32_t fifth_ = 0;
};

template <>
class Block<DType::kQ5_0> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at)
      : numbers_(at + 2, at + 6), scale_(LoadHalf(at)) {}
  HWY_INLINE void Decode(int, Group& group) const {
    const IntVector sixteen = hn::Set(IntTag(), 16);
    IntVector numbers[kGroupVectors];
    numbers_.Decode(numbers);
    for (int i = 0; i < kGroupVectors; ++i) {
      group[i] = Scaled(hn::Sub(numbers[i], sixteen), scale_);
    }
  }

 private:
  FiveBits numbers_;
  float scale_;
};

template <>
class Block<DType::kQ5_1> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at)
      : numbers_(at + 4, at + 8),
        scale_(LoadHalf(at)),
        least_(LoadHalf(at + 2)) {}
  HWY_INLINE void Decode(int, Group& group) const {
    IntVector numbers[kGroupVectors];
    numbers_.Decode(numbers);
    for (int i = 0; i < kGroupVectors; ++i) {
      group[i] = ScaledAndMoved(numbers[i], scale_, least_);
    }
  }

 private:
  FiveBits numbers_;
  float scale_;
  float least_;
};

// Eight groups, each with a scale and a least value of six bits, which those of
// the whole block multiply.
class SixBitScales {
 public:
  HWY_INLINE explicit SixBitScales(const uint8_t* at) {
    uint64_t scales;
    uint64_t leasts;
    FindSixBitScales(at + 4, &scales, &leasts);
    uint8_t scale_bytes[8];
    uint8_t least_bytes[8];
    std::memcpy(scale_bytes, &scales, sizeof(scale_bytes));
    std::memcpy(least_bytes, &leasts, sizeof(least_bytes));
    const float scale = LoadHalf(at);
    const float least = -LoadHalf(at + 2);
    for (int i = 0; i < 8; ++i) {
      scales_[i] = scale * static_cast<float>(scale_bytes[i]);
      leasts_[i] = least * static_cast<float>(least_bytes[i]);
    }
  }
  HWY_INLINE float scale(int group) const { return scales_[group]; }
  HWY_INLINE float least(int group) const { return leasts_[group]; }

 private:
  float scales_[8];
  float leasts_[8];
};

// Groups 2 i and 2 i + 1 are the low and the high halves of 32 bytes.
HWY_INLINE IntVector PairedNibbles(const uint8_t* halves, int group, int i) {
  const IntVector bytes = LoadBytes(halves + group / 2 * kGroup + i * kLanes);
  return group % 2 == 0 ? Nibbles<false>(bytes) : Nibbles<true>(bytes);
}

template <>
class Block<DType::kQ4K> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at)
      : scales_(at), numbers_(at + 16) {}
  HWY_INLINE void Decode(int group, Group& values) const {
    const float scale = scales_.scale(group);
    const float least = scales_.least(group);
    const SixteenValues sixteen(0, scale, least);
    for (int i = 0; i < kGroupVectors; ++i) {
      const IntVector nibbles = PairedNibbles(numbers_, group, i);
      values[i] = SixteenValues::kFits ? sixteen.Find(nibbles)
                                       : ScaledAndMoved(nibbles, scale, least);
    }
  }

 private:
  SixBitScales scales_;
  const uint8_t* numbers_;
};

template <>
class Block<DType::kQ5K> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at)
      : scales_(at), fifth_(at + 16), numbers_(at + 48) {}
  HWY_INLINE void Decode(int group, Group& values) const {
    const IntTag d;
    const float scale = scales_.scale(group);
    const float least = scales_.least(group);
    const IntVector mask = hn::Set(d, 1 << group);
    const IntVector sixteen = hn::Set(d, 16);
    for (int i = 0; i < kGroupVectors; ++i) {
      const IntVector bits = hn::And(LoadBytes(fifth_ + i * kLanes), mask);
      const IntVector fifth = hn::IfThenElseZero(hn::Eq(bits, mask), sixteen);
      values[i] = ScaledAndMoved(
          hn::Or(PairedNibbles(numbers_, group, i), fifth), scale, least);
    }
  }

 private:
  SixBitScales scales_;
  const uint8_t* fifth_;
  const uint8_t* numbers_;
};

template <>
class Block<DType::kQ6K> {
 public:
  HWY_INLINE explicit Block(const uint8_t* at) : at_(at) {
    const float scale = LoadHalf(at + 208);
    for (int i = 0; i < 16; ++i) {
      scales_[i] = scale * static_cast<float>(static_cast<int8_t>(at[192 + i]));
    }
  }
  // Group 4 h + r: the half h of the block has 64 bytes of low halves, of which
  // r chooses 32 bytes and the half, and 32 bytes of pairs of high bits, of
  // which r chooses the pair.
  HWY_INLINE void Decode(int group, Group& values) const {
    const IntTag d;
    const int half = group / 4;
    const int part = group % 4;
    const uint8_t* const low = at_ + half * 64 + part % 2 * 32;
    const uint8_t* const high = at_ + 128 + half * 32;
    const float* const scales = scales_ + group * 2;
    const IntVector three = hn::Set(d, 3);
    const IntVector middle = hn::Set(d, 32);
    for (int i = 0; i < kGroupVectors; ++i) {
      const IntVector bytes = LoadBytes(low + i * kLanes);
      const IntVector four =
          part < 2 ? Nibbles<false>(bytes) : Nibbles<true>(bytes);
      const IntVector pairs = LoadBytes(high + i * kLanes);
      const IntVector two = hn::And(hn::ShiftRightSame(pairs, 2 * part), three);
      const IntVector number =
          hn::Sub(hn::Or(four, hn::ShiftLeft<4>(two)), middle);
      values[i] = Scaled(number, scales[i / HWY_MAX(1, kHalfVectors)]);
    }
  }

 private:
  const uint8_t* at_;
  float scales_[16];
};

template <DType kType>
struct Layout {
  static constexpr bool kIsLarge =
      kType == DType::kQ4K || kType == DType::kQ5K || kType == DType::kQ6K;
  static constexpr int64_t kElements = kIsLarge ? 256 : 32;
  static constexpr int kGroups = static_cast<int>(kElements / kGroup);
};

// Adds one block to the sums of kRows rows.
template <DType kType, int kRows>
HWY_INLINE void MultiplySums(const uint8_t* HWY_RESTRICT matrix,
                             int64_t row_bytes, int64_t block_bytes,
                             int64_t columns, const float* HWY_RESTRICT input,
                             float (&result)[kRows]) {
  const FloatTag d;
  constexpr int kGroups = Layout<kType>::kGroups;
  FloatVector sum[kRows][kVectors];
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kVectors; ++i) sum[row][i] = hn::Zero(d);
  }
  for (int64_t column = 0; column < columns;
       column += Layout<kType>::kElements) {
    for (int row = 0; row < kRows; ++row) {
      const Block<kType> block(matrix + row * row_bytes);
#pragma GCC unroll 8
      for (int group = 0; group < kGroups; ++group) {
        const float* const x = input + column + group * kGroup;
        Group weights;
        block.Decode(group, weights);
        for (int i = 0; i < kGroupVectors; ++i) {
          sum[row][i % kVectors] = hn::MulAdd(
              weights[i], hn::LoadU(d, x + i * kLanes), sum[row][i % kVectors]);
        }
      }
    }
    matrix += block_bytes;
  }
  for (int row = 0; row < kRows; ++row) result[row] = SumLanes(sum[row]);
}

// A matrix of quantised rows, as places in memory.
struct QuantisedRows {
  const uint8_t* data;
  int64_t row_bytes;
  int64_t block_bytes;
  int64_t columns;
};

template <DType kType, int kRows>
HWY_INLINE void MultiplyRows(const QuantisedRows& matrix, int64_t first,
                             int64_t step, const float* input,
                             const Epilogue& epilogue, float* output,
                             int64_t output_stride) {
  float total[kRows];
  for (int row = 0; row < kRows; ++row) {
    const int64_t place = first + row * step;
    total[row] = epilogue.bias == nullptr ? 0.0f : epilogue.bias[place];
    if (epilogue.accumulate) {
      total[row] = output[place * output_stride] + total[row];
    }
  }
  const uint8_t* at = matrix.data + first * matrix.row_bytes;
  for (int64_t column = 0; column < matrix.columns; column += kSumBlock) {
    const int64_t count = HWY_MIN(kSumBlock, matrix.columns - column);
    float block[kRows];
    MultiplySums<kType, kRows>(at, step * matrix.row_bytes, matrix.block_bytes,
                               count, input + column, block);
    for (int row = 0; row < kRows; ++row) total[row] += block[row];
    at += kSumBlock / Layout<kType>::kElements * matrix.block_bytes;
  }
  for (int row = 0; row < kRows; ++row) {
    output[(first + row * step) * output_stride] = total[row];
  }
}

// Rows that are read side by side are a page apart: within a page, processors
// fetch only one run ahead.
template <DType kType>
HWY_NOINLINE void MultiplyTyped(const QuantisedRows& matrix, int64_t rows,
                                const float* input, const Epilogue& epilogue,
                                float* output, int64_t output_stride) {
  constexpr int kRows = 4;
  const int64_t step =
      (kPageBytes + matrix.row_bytes - 1) / HWY_MAX(1, matrix.row_bytes);
  int64_t row = 0;
  for (; row + kRows * step <= rows; row += kRows * step) {
    for (int64_t i = 0; i < step; ++i) {
      MultiplyRows<kType, kRows>(matrix, row + i, step, input, epilogue, output,
                                 output_stride);
    }
  }
  for (; row < rows; ++row) {
    MultiplyRows<kType, 1>(matrix, row, 1, input, epilogue, output,
                           output_stride);
  }
}

template <DType kType>
HWY_NOINLINE void WidenTyped(const uint8_t* source, int64_t block_bytes,
                             int64_t count, float* destination) {
  // Values may be written over a block of several groups while it is read.
  uint8_t copy[Layout<kType>::kElements];
  for (int64_t i = 0; i < count; i += Layout<kType>::kElements) {
    const uint8_t* at = source;
    if (Layout<kType>::kIsLarge) {
      std::memcpy(copy, source, static_cast<size_t>(block_bytes));
      at = copy;
    }
    const Block<kType> block(at);
    for (int group = 0; group < Layout<kType>::kGroups; ++group) {
      Group values;
      block.Decode(group, values);
      for (int v = 0; v < kGroupVectors; ++v) {
        hn::StoreU(values[v], FloatTag(),
                   destination + i + group * kGroup + v * kLanes);
      }
    }
    source += block_bytes;
  }
}

// Calls `use` with the type as a constant.
template <class Use>
void ForType(DType type, const Use& use) {
  if (ForQuantisedType(type, use)) return;
  HWY_ABORT("no arithmetic on %s", DTypeName(type).data());
}

void MultiplyQuantisedVector(DType type, const void* matrix, int64_t row_stride,
                             int64_t rows, int64_t columns, const float* input,
                             const Epilogue& epilogue, float* output,
                             int64_t output_stride) {
  const QuantisedRows quantised = {static_cast<const uint8_t*>(matrix),
                                   BytesOfElements(type, row_stride),
                                   BlockOf(type).bytes, columns};
  ForType(type, [&](auto constant) {
    MultiplyTyped<constant.value>(quantised, rows, input, epilogue, output,
                                  output_stride);
  });
}

void WidenQuantised(DType type, const void* source, int64_t count,
                    float* destination) {
  ForType(type, [&](auto constant) {
    WidenTyped<constant.value>(static_cast<const uint8_t*>(source),
                               BlockOf(type).bytes, count, destination);
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(MultiplyQuantisedVector);
HWY_EXPORT(WidenQuantised);

void MultiplyQuantisedVector(DType type, const void* matrix, int64_t row_stride,
                             int64_t rows, int64_t columns, const float* input,
                             const Epilogue& epilogue, float* output,
                             int64_t output_stride) {
  HWY_DYNAMIC_DISPATCH(MultiplyQuantisedVector)
  (type, matrix, row_stride, rows, columns, input, epilogue, output,
   output_stride);
}

void WidenQuantised(DType type, const void* source, int64_t count,
                    float* destination) {
  HWY_DYNAMIC_DISPATCH(WidenQuantised)(type, source, count, destination);
}

}  // namespace footprint
#endif  // HWY_ONCE
