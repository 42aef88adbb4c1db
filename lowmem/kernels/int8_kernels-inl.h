// The kernels of int8_product.cc for one set of vector instructions:
// FOOTPRINT_INT8_LEVEL is 2 for AVX-512 VNNI, 1 for AVX2, 0 for plain C++.
//
//   #define FOOTPRINT_INT8_LEVEL 0
//   #define FOOTPRINT_INT8_NAMESPACE plain_int8
//   #include "footprint/lowmem/kernels/int8_kernels-inl.h"
//
// This file is included once for each level, so it has no include guard.

namespace footprint::FOOTPRINT_INT8_NAMESPACE {

// The offset that is added to each number, so that it is not negative. With
// AVX2, the bytes of Q8_0 are multiplied with their signs and without an
// offset, because the products of larger bytes would not fit into sixteen bits.
template <DType kType>
inline constexpr bool kIsSigned =
    FOOTPRINT_INT8_LEVEL == 1 && kType == DType::kQ8_0;
template <DType kType>
inline constexpr int kOffset =
    kIsSigned<kType> ? 0 : Int8Format<kType>::kOffset;

// A row's numbers plus kOffset, and the factors of its groups.
struct UnpackedRow {
  uint8_t* numbers;
  float* steps;
  float* seconds;  // least values, or the factor of the first half
  float* thirds;   // the factor of the second half
};

FOOTPRINT_INT8_INLINE UnpackedRow RowOf(char* scratch, int64_t columns,
                                        int64_t row) {
  char* const at = scratch + row * (columns + columns / kGroup * 12);
  float* const factors = reinterpret_cast<float*>(at + columns);
  const int64_t groups = columns / kGroup;
  return {reinterpret_cast<uint8_t*>(at), factors, factors + groups,
          factors + 2 * groups};
}

#if FOOTPRINT_INT8_LEVEL > 0

FOOTPRINT_INT8_INLINE __m128i Load16(const void* at) {
  return _mm_loadu_si128(static_cast<const __m128i*>(at));
}
FOOTPRINT_INT8_INLINE __m256i Load32(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

// Unpacks 32 numbers from sixteen bytes. The bytes' low halves hold the first
// sixteen numbers, and their high halves the others.
FOOTPRINT_INT8_INLINE __m256i BothHalves(const uint8_t* at) {
  const __m128i bytes = Load16(at);
  const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(bytes),
                                               _mm_srli_epi16(bytes, 4), 1);
  return _mm256_and_si256(both, _mm256_set1_epi8(15));
}

// Returns 32 bytes, of which byte i is 16 if bit i of the four bytes is set,
// else 0.
FOOTPRINT_INT8_INLINE __m256i FifthBits(const uint8_t* at) {
  int bits;
  std::memcpy(&bits, at, sizeof(bits));
  const __m256i byte_of = _mm256_setr_epi64x(
      0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i place =
      _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
  const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte_of);
  const __m256i is_set =
      _mm256_cmpeq_epi8(_mm256_and_si256(spread, place), place);
  return _mm256_and_si256(is_set, _mm256_set1_epi8(16));
}

// Returns the low or the high halves of 32 bytes.
FOOTPRINT_INT8_INLINE __m256i OneHalf(const uint8_t* at, bool is_high) {
  const __m256i bytes = Load32(at);
  return _mm256_and_si256(is_high ? _mm256_srli_epi16(bytes, 4) : bytes,
                          _mm256_set1_epi8(15));
}

// Returns the numbers of group `group` of eight blocks, or of one large block,
// plus kOffset.
template <DType kType>
FOOTPRINT_INT8_INLINE __m256i Numbers(const uint8_t* at, int group) {
  if constexpr (!Int8Format<kType>::kIsLarge) {
    at += group * Int8Format<kType>::kBytes;
  }
  if constexpr (kType == DType::kQ8_0) {
    const __m256i bytes = Load32(at + 2);
    if constexpr (kIsSigned<kType>) return bytes;
    return _mm256_xor_si256(bytes, _mm256_set1_epi8(-128));
  } else if constexpr (kType == DType::kQ4_0) {
    return BothHalves(at + 2);
  } else if constexpr (kType == DType::kQ4_1) {
    return BothHalves(at + 4);
  } else if constexpr (kType == DType::kQ5_0) {
    return _mm256_or_si256(BothHalves(at + 6), FifthBits(at + 2));
  } else if constexpr (kType == DType::kQ5_1) {
    return _mm256_or_si256(BothHalves(at + 8), FifthBits(at + 4));
  } else if constexpr (kType == DType::kQ4K) {
    return OneHalf(at + 16 + group / 2 * kGroup, group % 2 == 1);
  } else if constexpr (kType == DType::kQ5K) {
    const __m256i mask = _mm256_set1_epi8(static_cast<char>(1 << group));
    const __m256i is_set =
        _mm256_cmpeq_epi8(_mm256_and_si256(Load32(at + 16), mask), mask);
    return _mm256_or_si256(
        OneHalf(at + 48 + group / 2 * kGroup, group % 2 == 1),
        _mm256_and_si256(is_set, _mm256_set1_epi8(16)));
  } else {
    const int half = group / 4;
    const int part = group % 4;
    const __m256i low = OneHalf(at + half * 64 + part % 2 * 32, part >= 2);
    const __m256i pairs =
        _mm256_srli_epi16(Load32(at + 128 + half * 32), 2 * part);
    const __m256i two = _mm256_and_si256(pairs, _mm256_set1_epi8(3));
    return _mm256_or_si256(low, _mm256_slli_epi16(two, 4));
  }
}

// Returns kCount 16-bit floats that are `stride` bytes apart, as floats; the
// others are zero.
template <int kCount>
FOOTPRINT_INT8_INLINE __m256 Halves(const uint8_t* at, int stride) {
  uint16_t half[8] = {};
  for (int i = 0; i < kCount; ++i) {
    std::memcpy(&half[i], at + i * stride, sizeof(half[i]));
  }
  return _mm256_cvtph_ps(_mm_setr_epi16(
      static_cast<int16_t>(half[0]), static_cast<int16_t>(half[1]),
      static_cast<int16_t>(half[2]), static_cast<int16_t>(half[3]),
      static_cast<int16_t>(half[4]), static_cast<int16_t>(half[5]),
      static_cast<int16_t>(half[6]), static_cast<int16_t>(half[7])));
}

// Factors of eight groups: see UnpackedRow.
struct Factors {
  __m256 steps;
  __m256 seconds;
  __m256 thirds;
};

FOOTPRINT_INT8_INLINE __m256 Half8(const uint8_t* at) {
  uint16_t half;
  std::memcpy(&half, at, sizeof(half));
  return _mm256_cvtph_ps(_mm_set1_epi16(static_cast<int16_t>(half)));
}

FOOTPRINT_INT8_INLINE __m256 EightBytes(uint64_t bytes) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(bytes))));
}

template <DType kType, int kCount>
FOOTPRINT_INT8_INLINE Factors FactorsOf(const uint8_t* at) {
  Factors factors = {};
  if constexpr (!Int8Format<kType>::kIsLarge) {
    factors.steps = Halves<kCount>(at, Int8Format<kType>::kBytes);
    if constexpr (Int8Format<kType>::kHasLeast) {
      factors.seconds = Halves<kCount>(at + 2, Int8Format<kType>::kBytes);
    }
  } else if constexpr (kType == DType::kQ6K) {
    factors.steps = Half8(at + 208);
    const __m128i scales = Load16(at + 192);
    const __m128i odd = _mm_srai_epi16(scales, 8);
    const __m128i even = _mm_srai_epi16(_mm_slli_epi16(scales, 8), 8);
    factors.seconds = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(even));
    factors.thirds = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(odd));
  } else {
    uint64_t scales;
    uint64_t leasts;
    FindSixBitScales(at + 4, &scales, &leasts);
    factors.steps = _mm256_mul_ps(Half8(at), EightBytes(scales));
    const __m256 least = _mm256_xor_ps(Half8(at + 2), _mm256_set1_ps(-0.0f));
    factors.seconds = _mm256_mul_ps(least, EightBytes(leasts));
  }
  return factors;
}

// Adds to each sum the products of four neighbouring bytes.
template <bool kSigned>
FOOTPRINT_INT8_INLINE __m256i Dot(__m256i sum, __m256i numbers, __m256i x) {
#if FOOTPRINT_INT8_LEVEL == 2
  static_assert(!kSigned);
  return _mm256_dpbusd_epi32(sum, numbers, x);
#else
  if constexpr (kSigned) {
    x = _mm256_sign_epi8(x, numbers);
    numbers = _mm256_abs_epi8(numbers);
  }
  const __m256i pairs = _mm256_maddubs_epi16(numbers, x);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}

// Returns the products of kCount groups. A group's x has 32 bytes; `halves` has
// the sums of its two halves as a pair of 16-bit integers.
template <DType kType, int kCount>
FOOTPRINT_INT8_INLINE __m256 Terms(const uint8_t* at, const int8_t* x,
                                   __m256 x_steps, __m256i halves) {
  // Multiplies each group with x, into eight partial sums.
  __m256i z[8];
#pragma GCC unroll 8
  for (int group = 0; group < 8; ++group) {
    z[group] = _mm256_setzero_si256();
    if (group >= kCount) continue;
    z[group] = Dot<kIsSigned<kType>>(z[group], Numbers<kType>(at, group),
                                     Load32(x + group * kGroup));
  }
  // Adds up the partial sums: lane i of `first` has the first half of group i,
  // and lane i of `second` its second half.
  const __m256i low = _mm256_hadd_epi32(_mm256_hadd_epi32(z[0], z[1]),
                                        _mm256_hadd_epi32(z[2], z[3]));
  const __m256i high = _mm256_hadd_epi32(_mm256_hadd_epi32(z[4], z[5]),
                                         _mm256_hadd_epi32(z[6], z[7]));
  const __m256i first = _mm256_permute2x128_si256(low, high, 0x20);
  const __m256i second = _mm256_permute2x128_si256(low, high, 0x31);
  const Factors factors = FactorsOf<kType, kCount>(at);
  const __m256 step = _mm256_mul_ps(factors.steps, x_steps);
  // Takes the offset out again, by subtracting kOffset times the sums of x. The
  // halves of a group of Q6_K have factors of their own.
  constexpr int16_t kMoved = -kOffset<kType>;
  if constexpr (kType == DType::kQ6K) {
    const __m256i first_moved = _mm256_add_epi32(
        first, _mm256_madd_epi16(halves, _mm256_set1_epi32(kMoved & 0xffff)));
    const __m256i second_moved = _mm256_add_epi32(
        second,
        _mm256_madd_epi16(halves, _mm256_set1_epi32(kMoved * (1 << 16))));
    const __m256 sums = _mm256_add_ps(
        _mm256_mul_ps(_mm256_cvtepi32_ps(first_moved), factors.seconds),
        _mm256_mul_ps(_mm256_cvtepi32_ps(second_moved), factors.thirds));
    return _mm256_mul_ps(step, sums);
  } else {
    __m256i sums = _mm256_add_epi32(first, second);
    if constexpr (kMoved != 0) {
      sums = _mm256_add_epi32(
          sums, _mm256_madd_epi16(halves, _mm256_set1_epi16(kMoved)));
    }
    const __m256 terms = _mm256_mul_ps(step, _mm256_cvtepi32_ps(sums));
    if constexpr (!Int8Format<kType>::kHasLeast) return terms;
    const __m256 x_sums =
        _mm256_cvtepi32_ps(_mm256_madd_epi16(halves, _mm256_set1_epi16(1)));
    return _mm256_add_ps(
        terms, _mm256_mul_ps(factors.seconds, _mm256_mul_ps(x_steps, x_sums)));
  }
}

// Adds each of four rows' eight terms one after the other, from zero.
FOOTPRINT_INT8_INLINE __m128 AddInOrder(const __m256 (&terms)[4]) {
  const __m256 t0 = _mm256_unpacklo_ps(terms[0], terms[1]);
  const __m256 t1 = _mm256_unpackhi_ps(terms[0], terms[1]);
  const __m256 t2 = _mm256_unpacklo_ps(terms[2], terms[3]);
  const __m256 t3 = _mm256_unpackhi_ps(terms[2], terms[3]);
  const __m256 columns[] = {
      _mm256_shuffle_ps(t0, t2, 0x44), _mm256_shuffle_ps(t0, t2, 0xee),
      _mm256_shuffle_ps(t1, t3, 0x44), _mm256_shuffle_ps(t1, t3, 0xee)};
  __m128 sum = _mm_setzero_ps();
  for (const __m256& column : columns) {
    sum = _mm_add_ps(sum, _mm256_castps256_ps128(column));
  }
  for (const __m256& column : columns) {
    sum = _mm_add_ps(sum, _mm256_extractf128_ps(column, 1));
  }
  return sum;
}

// Fetches the following bytes of a row into the cache, because the processor
// itself does so only within a page.
template <int kBytes>
FOOTPRINT_INT8_INLINE void FetchAhead(const uint8_t* at) {
  constexpr int kAhead = 1024;
#pragma GCC unroll 8
  for (int i = 0; i < kBytes; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(at + kAhead + i), _MM_HINT_T0);
  }
}

// Computes the terms of `groups` groups of kRows rows, from `column` on.
template <DType kType, int kRows>
FOOTPRINT_INT8_INLINE void TermsOfRows(const uint8_t* at, int64_t row_bytes,
                                       int groups, const VectorView& input,
                                       int64_t column, __m256 (&terms)[4]) {
  const int8_t* const x = input.numbers + column;
  const __m256 x_steps = _mm256_loadu_ps(input.steps + column / kGroup);
  const __m256i halves = Load32(input.halves + column / kGroup);
  for (int row = 0; row < kRows; ++row) {
    const uint8_t* const here = at + row * row_bytes;
    FetchAhead<kSumBlock / Int8Format<kType>::kElements *
               Int8Format<kType>::kBytes>(here);
    if (groups == 8) {
      terms[row] = Terms<kType, 8>(here, x, x_steps, halves);
    } else if constexpr (!Int8Format<kType>::kIsLarge) {
      if (groups == 4) {
        terms[row] = Terms<kType, 4>(here, x, x_steps, halves);
        continue;
      }
      // Copies the last groups of the row, since Terms<kType, 8> would read
      // beyond it.
      constexpr int kBytes = Int8Format<kType>::kBytes;
      uint8_t copy[8 * kBytes + 32] = {};
      std::memcpy(copy, here, static_cast<size_t>(groups) * kBytes);
      terms[row] = Terms<kType, 8>(copy, x, x_steps, halves);
    }
  }
}

#if FOOTPRINT_INT8_LEVEL == 2

// True if groups of this type are multiplied four at a time, in four rows.
template <DType kType>
inline constexpr bool kHasQuads =
    kType == DType::kQ8_0 || kType == DType::kQ4_0;

// Loads sixteen bytes of each of four blocks.
template <int kBytes>
FOOTPRINT_INT8_INLINE __m512i LoadOfBlocks(const uint8_t* at) {
  const __m256i low = _mm256_inserti128_si256(
      _mm256_castsi128_si256(Load16(at)), Load16(at + kBytes), 1);
  const __m256i high =
      _mm256_inserti128_si256(_mm256_castsi128_si256(Load16(at + 2 * kBytes)),
                              Load16(at + 3 * kBytes), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// Returns the products of four blocks. A lane of sixteen bytes of `first` has
// the first half of a group of features, and a lane of `second` the second
// half. Each lane of the sums belongs to one block.
template <DType kType>
FOOTPRINT_INT8_INLINE __m512i DotOfBlocks(const uint8_t* at, __m512i start,
                                          __m512i first, __m512i second) {
  constexpr int kBytes = Int8Format<kType>::kBytes;
  __m512i low = LoadOfBlocks<kBytes>(at + 2);
  __m512i high;
  if constexpr (kType == DType::kQ8_0) {
    const __m512i sign = _mm512_set1_epi8(-128);
    low = _mm512_xor_si512(low, sign);
    high = _mm512_xor_si512(LoadOfBlocks<kBytes>(at + 18), sign);
  } else {
    const __m512i mask = _mm512_set1_epi8(15);
    high = _mm512_and_si512(_mm512_srli_epi16(low, 4), mask);
    low = _mm512_and_si512(low, mask);
  }
  return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(start, low, first), high,
                             second);
}

// Returns the steps of four blocks of two rows as 16-bit floats: those of both
// rows' first blocks, then those of their second blocks, and so on.
template <DType kType>
FOOTPRINT_INT8_INLINE __m128i StepsOfTwoRows(const uint8_t* a,
                                             const uint8_t* b) {
  if constexpr (kType == DType::kQ4_0) {
    const __m512i places =
        _mm512_castsi128_si512(_mm_setr_epi16(0, 32, 9, 41, 18, 50, 27, 59));
    return _mm512_castsi512_si128(_mm512_permutex2var_epi16(
        _mm512_loadu_si512(a), places, _mm512_loadu_si512(b)));
  } else {
    const __m512i places =
        _mm512_castsi128_si512(_mm_setr_epi16(0, 17, 34, 51, 0, 0, 0, 0));
    const __m512i of_a = _mm512_permutex2var_epi16(
        _mm512_loadu_si512(a), places, _mm512_loadu_si512(a + 64));
    const __m512i of_b = _mm512_permutex2var_epi16(
        _mm512_loadu_si512(b), places, _mm512_loadu_si512(b + 64));
    return _mm_unpacklo_epi16(_mm512_castsi512_si128(of_a),
                              _mm512_castsi512_si128(of_b));
  }
}

// Adds up the four numbers of each lane. Element i of a lane of the result is
// the sum of row i.
FOOTPRINT_INT8_INLINE __m512i AddLanes(const __m512i (&dots)[4]) {
  const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(dots[0], dots[1]),
                                     _mm512_unpackhi_epi32(dots[0], dots[1]));
  const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(dots[2], dots[3]),
                                     _mm512_unpackhi_epi32(dots[2], dots[3]));
  return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b),
                          _mm512_unpackhi_epi64(a, b));
}

// Adds four groups of four rows to their sums, one after the other.
template <DType kType>
FOOTPRINT_INT8_INLINE __m128 AddQuad(const uint8_t* at, int64_t row_bytes,
                                     const int8_t* x, const float* x_steps,
                                     const int32_t* halves, __m128 sum) {
  // Sorts x by half: lane i of `first` has the first half of group i.
  const __m512i x_low = _mm512_loadu_si512(x);
  const __m512i x_high = _mm512_loadu_si512(x + 64);
  const __m512i first = _mm512_shuffle_i64x2(x_low, x_high, 0x88);
  const __m512i second = _mm512_shuffle_i64x2(x_low, x_high, 0xdd);
  // The products of group i start at -kOffset times the sum of its x, which
  // takes the offset out again.
  const __m512i lanes =
      _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const __m128i moved = _mm_madd_epi16(
      Load16(halves), _mm_set1_epi16(-Int8Format<kType>::kOffset));
  const __m512i start = _mm512_maskz_permutexvar_epi32(
      0x1111, lanes, _mm512_castsi128_si512(moved));
  __m512i dots[4];
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row) {
    const uint8_t* const here = at + row * row_bytes;
    FetchAhead<4 * Int8Format<kType>::kBytes>(here);
    dots[row] = DotOfBlocks<kType>(here, start, first, second);
  }
  // Multiplies by the steps: element r of lane i belongs to group i of row r.
  const __m128i a = StepsOfTwoRows<kType>(at, at + row_bytes);
  const __m128i b =
      StepsOfTwoRows<kType>(at + 2 * row_bytes, at + 3 * row_bytes);
  const __m256i steps =
      _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi32(a, b)),
                              _mm_unpackhi_epi32(a, b), 1);
  const __m512 step =
      _mm512_mul_ps(_mm512_cvtph_ps(steps),
                    _mm512_permutexvar_ps(
                        lanes, _mm512_castps128_ps512(_mm_loadu_ps(x_steps))));
  const __m512 terms = _mm512_mul_ps(step, _mm512_cvtepi32_ps(AddLanes(dots)));
  sum = _mm_add_ps(sum, _mm512_castps512_ps128(terms));
  sum = _mm_add_ps(sum, _mm512_extractf32x4_ps(terms, 1));
  sum = _mm_add_ps(sum, _mm512_extractf32x4_ps(terms, 2));
  return _mm_add_ps(sum, _mm512_extractf32x4_ps(terms, 3));
}

#else

template <DType kType>
inline constexpr bool kHasQuads = false;
template <DType kType>
FOOTPRINT_INT8_INLINE __m128 AddQuad(const uint8_t*, int64_t, const int8_t*,
                                     const float*, const int32_t*, __m128 sum) {
  return sum;
}

#endif  // FOOTPRINT_INT8_LEVEL == 2

// Returns the sums of kRows rows over one block of columns.
template <DType kType, int kRows>
FOOTPRINT_INT8_INLINE __m128 SumOfBlock(const uint8_t* at, int64_t row_bytes,
                                        int groups, const VectorView& input,
                                        int64_t column) {
  if constexpr (kHasQuads<kType> && kRows == 4) {
    if (groups % 4 == 0) {
      __m128 sum = _mm_setzero_ps();
      for (int group = 0; group < groups; group += 4) {
        const int64_t first = column / kGroup + group;
        sum = AddQuad<kType>(at + group * Int8Format<kType>::kBytes, row_bytes,
                             input.numbers + first * kGroup,
                             input.steps + first, input.halves + first, sum);
      }
      return sum;
    }
  }
  __m256 terms[4] = {};
  TermsOfRows<kType, kRows>(at, row_bytes, groups, input, column, terms);
  return AddInOrder(terms);
}

template <DType kType, int kRows>
FOOTPRINT_INT8_INLINE void MultiplyRows(const uint8_t* at, int64_t row_bytes,
                                        int64_t columns,
                                        const VectorView& input,
                                        float (&total)[4]) {
  constexpr int64_t kBlockBytes =
      kSumBlock / Int8Format<kType>::kElements * Int8Format<kType>::kBytes;
  __m128 sum = _mm_loadu_ps(total);
  for (int64_t column = 0; column < columns; column += kSumBlock) {
    const int64_t left = (columns - column) / kGroup;
    sum = _mm_add_ps(
        sum, SumOfBlock<kType, kRows>(at, row_bytes,
                                      static_cast<int>(left < 8 ? left : 8),
                                      input, column));
    at += kBlockBytes;
  }
  _mm_storeu_ps(total, sum);
}

template <DType kType>
FOOTPRINT_INT8_INLINE void UnpackGroups(const uint8_t* at, int groups,
                                        const UnpackedRow& row,
                                        int64_t first_group) {
  constexpr int kBytes = Int8Format<kType>::kBytes;
  uint8_t copy[8 * kBytes + 32];
  if (groups < 8) {
    std::memset(copy, 0, sizeof(copy));
    std::memcpy(copy, at, static_cast<size_t>(groups) * kBytes);
    at = copy;
  }
  const Factors factors = FactorsOf<kType, 8>(at);
  float values[3][8];
  _mm256_storeu_ps(values[0], factors.steps);
  _mm256_storeu_ps(values[1], factors.seconds);
  _mm256_storeu_ps(values[2], factors.thirds);
#pragma GCC unroll 8
  for (int group = 0; group < 8; ++group) {
    if (group >= groups) break;
    const int64_t place = first_group + group;
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(row.numbers + place * kGroup),
        Numbers<kType>(at, group));
    row.steps[place] = values[0][group];
    row.seconds[place] = values[1][group];
    row.thirds[place] = values[2][group];
  }
}

#if FOOTPRINT_INT8_LEVEL == 2

using Ints = __m512i;
using Floats = __m512;
constexpr int kTokenVectors = 1;
constexpr int kWeightRows = 6;
constexpr int kTokenBlocks = 2;

FOOTPRINT_INT8_INLINE Ints LoadInts(const void* at) {
  return _mm512_loadu_si512(at);
}
FOOTPRINT_INT8_INLINE Floats LoadFloats(const float* at) {
  return _mm512_loadu_ps(at);
}
FOOTPRINT_INT8_INLINE void Store(float* at, Floats x) {
  _mm512_storeu_ps(at, x);
}
FOOTPRINT_INT8_INLINE Floats Set(float x) { return _mm512_set1_ps(x); }
FOOTPRINT_INT8_INLINE Floats Add(Floats a, Floats b) {
  return _mm512_add_ps(a, b);
}
FOOTPRINT_INT8_INLINE Floats Multiply(Floats a, Floats b) {
  return _mm512_mul_ps(a, b);
}
FOOTPRINT_INT8_INLINE Floats ToFloats(Ints x) { return _mm512_cvtepi32_ps(x); }
// Takes each element for a pair of 16-bit integers, multiplies them by those of
// `pair`, and adds the two products.
FOOTPRINT_INT8_INLINE Ints MultiplyPairs(Ints x, int pair) {
  return _mm512_madd_epi16(x, _mm512_set1_epi32(pair));
}
template <bool kSigned>
FOOTPRINT_INT8_INLINE Ints DotTile(Ints sum, int numbers, Ints x) {
  static_assert(!kSigned);
  return _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(numbers), x);
}

#else

using Ints = __m256i;
using Floats = __m256;
constexpr int kTokenVectors = 2;
constexpr int kWeightRows = 3;
constexpr int kTokenBlocks = 1;

FOOTPRINT_INT8_INLINE Ints LoadInts(const void* at) { return Load32(at); }
FOOTPRINT_INT8_INLINE Floats LoadFloats(const float* at) {
  return _mm256_loadu_ps(at);
}
FOOTPRINT_INT8_INLINE void Store(float* at, Floats x) {
  _mm256_storeu_ps(at, x);
}
FOOTPRINT_INT8_INLINE Floats Set(float x) { return _mm256_set1_ps(x); }
FOOTPRINT_INT8_INLINE Floats Add(Floats a, Floats b) {
  return _mm256_add_ps(a, b);
}
FOOTPRINT_INT8_INLINE Floats Multiply(Floats a, Floats b) {
  return _mm256_mul_ps(a, b);
}
FOOTPRINT_INT8_INLINE Floats ToFloats(Ints x) { return _mm256_cvtepi32_ps(x); }
FOOTPRINT_INT8_INLINE Ints MultiplyPairs(Ints x, int pair) {
  return _mm256_madd_epi16(x, _mm256_set1_epi32(pair));
}
template <bool kSigned>
FOOTPRINT_INT8_INLINE Ints DotTile(Ints sum, int numbers, Ints x) {
  return Dot<kSigned>(sum, _mm256_set1_epi32(numbers), x);
}

#endif  // FOOTPRINT_INT8_LEVEL == 2

#else  // plain C++

// Returns the number of element `i` of group `group` of eight blocks, or of one
// large block, plus kOffset.
template <DType kType>
inline int NumberAt(const uint8_t* at, int group, int i) {
  if constexpr (!Int8Format<kType>::kIsLarge) {
    at += group * Int8Format<kType>::kBytes;
  }
  const auto half = [](int byte, bool is_high) {
    return is_high ? byte >> 4 : byte & 15;
  };
  const auto fifth = [i](const uint8_t* bits) {
    return (bits[i / 8] >> i % 8 & 1) * 16;
  };
  if constexpr (kType == DType::kQ8_0) {
    return at[2 + i] ^ 128;
  } else if constexpr (kType == DType::kQ4_0) {
    return half(at[2 + i % 16], i >= 16);
  } else if constexpr (kType == DType::kQ4_1) {
    return half(at[4 + i % 16], i >= 16);
  } else if constexpr (kType == DType::kQ5_0) {
    return half(at[6 + i % 16], i >= 16) + fifth(at + 2);
  } else if constexpr (kType == DType::kQ5_1) {
    return half(at[8 + i % 16], i >= 16) + fifth(at + 4);
  } else if constexpr (kType == DType::kQ4K) {
    return half(at[16 + group / 2 * 32 + i], group % 2 == 1);
  } else if constexpr (kType == DType::kQ5K) {
    return half(at[48 + group / 2 * 32 + i], group % 2 == 1) +
           (at[16 + i] >> group & 1) * 16;
  } else {
    const int part = group % 4;
    const uint8_t* const low = at + group / 4 * 64 + part % 2 * 32;
    const uint8_t* const high = at + 128 + group / 4 * 32;
    return half(low[i], part >= 2) + (high[i] >> 2 * part & 3) * 16;
  }
}

// Factors of one group: see UnpackedRow.
template <DType kType>
inline void FactorsAt(const uint8_t* at, int group, float (&factors)[3]) {
  if constexpr (!Int8Format<kType>::kIsLarge) {
    at += group * Int8Format<kType>::kBytes;
    factors[0] = HalfToFloat(at);
    if constexpr (Int8Format<kType>::kHasLeast)
      factors[1] = HalfToFloat(at + 2);
  } else if constexpr (kType == DType::kQ6K) {
    factors[0] = HalfToFloat(at + 208);
    factors[1] = static_cast<int8_t>(at[192 + 2 * group]);
    factors[2] = static_cast<int8_t>(at[193 + 2 * group]);
  } else {
    uint64_t scales;
    uint64_t leasts;
    FindSixBitScales(at + 4, &scales, &leasts);
    factors[0] =
        HalfToFloat(at) * static_cast<float>(scales >> 8 * group & 255);
    factors[1] =
        -HalfToFloat(at + 2) * static_cast<float>(leasts >> 8 * group & 255);
  }
}

template <DType kType>
inline void UnpackGroups(const uint8_t* at, int groups, const UnpackedRow& row,
                         int64_t first_group) {
  for (int group = 0; group < groups; ++group) {
    const int64_t place = first_group + group;
    for (int i = 0; i < kGroup; ++i) {
      row.numbers[place * kGroup + i] =
          static_cast<uint8_t>(NumberAt<kType>(at, group, i));
    }
    float factors[3] = {};
    FactorsAt<kType>(at, group, factors);
    row.steps[place] = factors[0];
    row.seconds[place] = factors[1];
    row.thirds[place] = factors[2];
  }
}

// Returns the product of one group.
template <DType kType>
inline float TermAt(const uint8_t* at, int group, const int8_t* x,
                    float x_step) {
  int sums[2] = {};
  int x_sum = 0;
  for (int i = 0; i < kGroup; ++i) {
    const int number = NumberAt<kType>(at, group, i) - kOffset<kType>;
    sums[i / 16] += number * x[i];
    x_sum += x[i];
  }
  float factors[3] = {};
  FactorsAt<kType>(at, group, factors);
  const float step = factors[0] * x_step;
  if constexpr (kType == DType::kQ6K) {
    return step * (static_cast<float>(sums[0]) * factors[1] +
                   static_cast<float>(sums[1]) * factors[2]);
  }
  const float term = step * static_cast<float>(sums[0] + sums[1]);
  if constexpr (!Int8Format<kType>::kHasLeast) return term;
  return term + factors[1] * (x_step * static_cast<float>(x_sum));
}

template <DType kType, int kRows>
inline void MultiplyRows(const uint8_t* at, int64_t row_bytes, int64_t columns,
                         const VectorView& input, float (&total)[4]) {
  constexpr int64_t kBlockBytes =
      kSumBlock / Int8Format<kType>::kElements * Int8Format<kType>::kBytes;
  for (int row = 0; row < kRows; ++row) {
    const uint8_t* here = at + row * row_bytes;
    for (int64_t column = 0; column < columns; column += kSumBlock) {
      float sum = 0;
      for (int group = 0; group < 8 && column + group * kGroup < columns;
           ++group) {
        const int64_t first = column + group * kGroup;
        sum += TermAt<kType>(here, group, input.numbers + first,
                             input.steps[first / kGroup]);
      }
      total[row] += sum;
      here += kBlockBytes;
    }
  }
}

// In plain C++ a vector is a single number.
using Ints = int32_t;
using Floats = float;
constexpr int kTokenVectors = static_cast<int>(kPanelWidth);
constexpr int kWeightRows = 1;
constexpr int kTokenBlocks = 1;

inline Ints LoadInts(const void* at) {
  Ints x;
  std::memcpy(&x, at, sizeof(x));
  return x;
}
inline Floats LoadFloats(const float* at) { return *at; }
inline void Store(float* at, Floats x) { *at = x; }
inline Floats Set(float x) { return x; }
inline Floats Add(Floats a, Floats b) { return a + b; }
inline Floats Multiply(Floats a, Floats b) { return a * b; }
inline Floats ToFloats(Ints x) { return static_cast<float>(x); }
inline Ints MultiplyPairs(Ints x, int pair) {
  return static_cast<int16_t>(x & 0xffff) *
             static_cast<int16_t>(pair & 0xffff) +
         (x >> 16) * (pair >> 16);
}
template <bool kSigned>
inline Ints DotTile(Ints sum, int numbers, Ints x) {
  for (int i = 0; i < 4; ++i) {
    sum += (numbers >> 8 * i & 255) * static_cast<int8_t>(x >> 8 * i & 255);
  }
  return sum;
}

#endif  // FOOTPRINT_INT8_LEVEL > 0

// Multiplies the rows of a matrix. The four rows that are read at once lie a
// page apart, because within a page processors fetch only one run ahead.
template <DType kType>
void MultiplyVectorTyped(const QuantisedView& matrix, const VectorView& input,
                         const Epilogue& epilogue, float* output,
                         int64_t output_stride) {
  const int64_t row_bytes = matrix.row_stride_bytes;
  const int64_t step =
      row_bytes < 1 ? kPageBytes : (kPageBytes + row_bytes - 1) / row_bytes;
  const auto multiply = [&](auto count, int64_t first,
                            int64_t apart) FOOTPRINT_INT8_LAMBDA {
    constexpr int kRows = decltype(count)::value;
    float total[4] = {};
    for (int i = 0; i < kRows; ++i) {
      const int64_t row = first + i * apart;
      total[i] = epilogue.bias == nullptr ? 0.0f : epilogue.bias[row];
      if (epilogue.accumulate) {
        total[i] = output[row * output_stride] + total[i];
      }
    }
    MultiplyRows<kType, kRows>(
        static_cast<const uint8_t*>(matrix.data) + first * row_bytes,
        apart * row_bytes, matrix.columns, input, total);
    for (int i = 0; i < kRows; ++i) {
      output[(first + i * apart) * output_stride] = total[i];
    }
  };
  int64_t row = 0;
  for (; row + 4 * step <= matrix.rows; row += 4 * step) {
    for (int64_t i = 0; i < step; ++i) {
      multiply(std::integral_constant<int, 4>(), row + i, step);
    }
  }
  for (; row + 4 <= matrix.rows; row += 4) {
    multiply(std::integral_constant<int, 4>(), row, 1);
  }
  for (; row < matrix.rows; ++row) {
    multiply(std::integral_constant<int, 1>(), row, 1);
  }
}

template <DType kType>
void UnpackRows(const QuantisedView& matrix, char* scratch) {
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const UnpackedRow to = RowOf(scratch, matrix.columns, row);
    const uint8_t* at = static_cast<const uint8_t*>(matrix.data) +
                        row * matrix.row_stride_bytes;
    for (int64_t column = 0; column < matrix.columns; column += kSumBlock) {
      const int64_t left = (matrix.columns - column) / kGroup;
      UnpackGroups<kType>(at, static_cast<int>(left < 8 ? left : 8), to,
                          column / kGroup);
      at +=
          kSumBlock / Int8Format<kType>::kElements * Int8Format<kType>::kBytes;
    }
  }
}

// Adds the products of kRows rows and kPanels panels in one group to the sums.
template <DType kType, int kRows, int kPanels>
FOOTPRINT_INT8_INLINE void AddGroup(
    const UnpackedRow (&rows)[kRows], int64_t group, const char* record,
    int64_t panel_bytes, Floats (&sum)[kRows][kPanels * kTokenVectors]) {
  constexpr int kVectors = kPanels * kTokenVectors;
  constexpr int kLaneBytes = static_cast<int>(sizeof(Ints));
  constexpr bool kHasHalves = kType == DType::kQ6K;
  constexpr int kMoved = -kOffset<kType>;
  constexpr int kBoth = (kMoved & 0xffff) | kMoved * (1 << 16);
  const auto at = [&](int vector) FOOTPRINT_INT8_LAMBDA {
    return record + vector / kTokenVectors * panel_bytes +
           vector % kTokenVectors * kLaneBytes;
  };
  // Computes the sums of products of whole numbers as floats. The halves of a
  // group of Q6_K have factors of their own, so each is a round of the loop.
  Floats value[kRows][kVectors];
#pragma GCC unroll 2
  for (int half = 0; half < (kHasHalves ? 2 : 1); ++half) {
    // Starts at -kOffset times the sum of x, which takes the offset out again.
    Ints dot[kRows][kVectors];
    const int pair = !kHasHalves ? kBoth
                     : half == 0 ? kMoved & 0xffff
                                 : kMoved * (1 << 16);
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const Ints start = MultiplyPairs(LoadInts(at(v) + kHalvesOffset), pair);
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) dot[row][v] = start;
    }
    constexpr int kQuads = kHasHalves ? 4 : 8;
#pragma GCC unroll 8
    for (int quad = half * 4; quad < half * 4 + kQuads; ++quad) {
      Ints x[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) x[v] = LoadInts(at(v) + quad * 64);
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        int numbers;
        std::memcpy(&numbers, rows[row].numbers + group * kGroup + quad * 4,
                    sizeof(numbers));
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          dot[row][v] = DotTile<kIsSigned<kType>>(dot[row][v], numbers, x[v]);
        }
      }
    }
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        Floats floats = ToFloats(dot[row][v]);
        if constexpr (kHasHalves) {
          floats = Multiply(floats, Set((half == 0 ? rows[row].seconds
                                                   : rows[row].thirds)[group]));
        }
        value[row][v] = half == 0 ? floats : Add(value[row][v], floats);
      }
    }
  }
  // Multiplies by the steps, and adds the least values times the sums of x.
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) {
    const Floats x_step =
        LoadFloats(reinterpret_cast<const float*>(at(v) + kStepsOffset));
    Floats moved = x_step;
    if constexpr (Int8Format<kType>::kHasLeast) {
      moved = Multiply(x_step, ToFloats(MultiplyPairs(
                                   LoadInts(at(v) + kHalvesOffset), 0x10001)));
    }
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      Floats term = Multiply(Multiply(Set(rows[row].steps[group]), x_step),
                             value[row][v]);
      if constexpr (Int8Format<kType>::kHasLeast) {
        term = Add(term, Multiply(Set(rows[row].seconds[group]), moved));
      }
      sum[row][v] = Add(sum[row][v], term);
    }
  }
}

template <DType kType, int kRows, int kPanels>
void MultiplyTile(char* scratch, int64_t columns, int64_t first_row,
                  const char* records, int64_t panel_bytes,
                  const Epilogue& epilogue, const PanelOutput& output) {
  constexpr int kVectors = kPanels * kTokenVectors;
  constexpr int kLanes = static_cast<int>(sizeof(Floats) / sizeof(float));
  UnpackedRow rows[kRows];
  for (int row = 0; row < kRows; ++row) {
    rows[row] = RowOf(scratch, columns, first_row + row);
  }
  const int64_t groups = columns / kGroup;
  for (int64_t block = 0; block < groups; block += 8) {
    Floats sum[kRows][kVectors];
    for (int row = 0; row < kRows; ++row) {
      for (int v = 0; v < kVectors; ++v) sum[row][v] = Set(0.0f);
    }
    const int64_t end = block + 8 < groups ? block + 8 : groups;
    for (int64_t group = block; group < end; ++group) {
      AddGroup<kType, kRows, kPanels>(
          rows, group, records + group * kRecordBytes, panel_bytes, sum);
    }
    const bool keeps = epilogue.accumulate || block > 0;
    for (int row = 0; row < kRows; ++row) {
      const float bias = epilogue.bias == nullptr || block > 0
                             ? 0.0f
                             : epilogue.bias[first_row + row];
      for (int v = 0; v < kVectors; ++v) {
        float* const at = output.data + (first_row + row) * output.row_stride +
                          v / kTokenVectors * output.panel_stride +
                          v % kTokenVectors * kLanes;
        // Later blocks add no bias of zero, since -0 + 0 would change the sign.
        Floats start = Set(bias);
        if (keeps)
          start = block > 0 ? LoadFloats(at) : Add(LoadFloats(at), start);
        Store(at, Add(start, sum[row][v]));
      }
    }
  }
}

template <DType kType, int kPanels>
void MultiplyPanelRows(char* scratch, const QuantisedView& matrix,
                       const char* records, int64_t panel_bytes,
                       const Epilogue& epilogue, const PanelOutput& output) {
  constexpr int kRows =
      kType == DType::kQ6K && kWeightRows > 2 ? kWeightRows / 2 : kWeightRows;
  int64_t row = 0;
  for (; row + kRows <= matrix.rows; row += kRows) {
    MultiplyTile<kType, kRows, kPanels>(scratch, matrix.columns, row, records,
                                        panel_bytes, epilogue, output);
  }
  for (; row < matrix.rows; ++row) {
    MultiplyTile<kType, 1, kPanels>(scratch, matrix.columns, row, records,
                                    panel_bytes, epilogue, output);
  }
}

template <DType kType>
void MultiplyPanelsTyped(const QuantisedView& matrix, const RoundedView& input,
                         int64_t panels, const Epilogue& epilogue,
                         const PanelOutput& output, char* scratch) {
  UnpackRows<kType>(matrix, scratch);
  const int64_t panel_bytes = input.columns / kGroup * kRecordBytes;
  const char* records = input.data + input.first_column / kGroup * kRecordBytes;
  for (int64_t panel = 0; panel < panels;) {
    const PanelOutput here = {output.data + panel * output.panel_stride,
                              output.row_stride, output.panel_stride};
    const char* const at = records + panel * panel_bytes;
    if (panels - panel >= kTokenBlocks) {
      MultiplyPanelRows<kType, kTokenBlocks>(scratch, matrix, at, panel_bytes,
                                             epilogue, here);
      panel += kTokenBlocks;
    } else {
      MultiplyPanelRows<kType, 1>(scratch, matrix, at, panel_bytes, epilogue,
                                  here);
      ++panel;
    }
  }
}

void RoundVector(const float* input, int64_t columns, const VectorPlace& to) {
  for (int64_t group = 0; group < columns / kGroup; ++group) {
    const float* const x = input + group * kGroup;
    uint32_t largest = 0;
    for (int i = 0; i < kGroup; ++i) {
      const uint32_t bits = MagnitudeBits(x[i]);
      largest = bits > largest ? bits : largest;
    }
    const RoundingStep step = FindRoundingStep(largest);
    int32_t halves[2] = {};
    for (int half = 0; half < 2; ++half) {
      for (int i = half * 16; i < half * 16 + 16; ++i) {
        const int32_t number = RoundNumber(x[i], step);
        to.numbers[group * kGroup + i] = static_cast<int8_t>(number);
        halves[half] += number;
      }
    }
    to.steps[group] = step.step;
    to.halves[group] = PackHalves(halves[0], halves[1]);
  }
}

void RoundGroup(const float* input, char* record) {
  constexpr int kLanes = static_cast<int>(kPanelWidth);
  // Finds each token's step.
  uint32_t largest[kLanes] = {};
  for (int i = 0; i < kGroup; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t bits = MagnitudeBits(input[i * kLanes + lane]);
      largest[lane] = bits > largest[lane] ? bits : largest[lane];
    }
  }
  RoundingStep steps[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    steps[lane] = FindRoundingStep(largest[lane]);
  }
  float factor[kLanes];
  uint32_t mask[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    factor[lane] = steps[lane].per_step;
    mask[lane] = steps[lane].mask;
  }
  // Rounds the numbers. A quad has four features of each token side by side.
  int32_t halves[2][kLanes] = {};
  for (int quad = 0; quad < 8; ++quad) {
    uint32_t packed[kLanes] = {};
    for (int i = 0; i < 4; ++i) {
      const float* const x = input + (quad * 4 + i) * kLanes;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int32_t number =
            RoundNumber(x[lane], {0, factor[lane], mask[lane]});
        packed[lane] |= (static_cast<uint32_t>(number) & 255) << 8 * i;
        halves[quad / 4][lane] += number;
      }
    }
    std::memcpy(record + quad * 64, packed, sizeof(packed));
  }
  // Writes the steps, and the sums of the halves.
  float step[kLanes];
  int32_t sums[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    step[lane] = steps[lane].step;
    sums[lane] = PackHalves(halves[0][lane], halves[1][lane]);
  }
  std::memcpy(record + kStepsOffset, step, sizeof(step));
  std::memcpy(record + kHalvesOffset, sums, sizeof(sums));
}

void RoundPanels(const PanelView& input, int64_t columns, int64_t panels,
                 char* rounded) {
  for (int64_t panel = 0; panel < panels; ++panel) {
    const float* const x = input.data + panel * input.panel_stride;
    for (int64_t group = 0; group < columns / kGroup; ++group) {
      RoundGroup(x + group * kGroup * kPanelWidth, rounded);
      rounded += kRecordBytes;
    }
  }
}

}  // namespace footprint::FOOTPRINT_INT8_NAMESPACE

// Tested by int8_product_test.
