#include "footprint/lowmem/kernels/matrix_product.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/vector_targets.h"
#include "footprint/lowmem/kernels/quantised_product.h"
#include "footprint/lowmem/kernels/token_panel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lowmem/kernels/matrix_product.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "footprint/base/simd/dense_tile-inl.h"
#include "footprint/base/simd/math-inl.h"
#include "footprint/lowmem/kernels/sixteen_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {

// Sums of a strip of columns that fit in registers.
constexpr int kStripVectors = kLanes == 16 ? 4 : 8;

template <Activation kActivation>
HWY_INLINE FloatVector Activate(FloatVector x) {
  const FloatTag d;
  if (kActivation == Activation::kGelu) return Gelu(d, x);
  if (kActivation == Activation::kGeluTanh) return GeluTanh(d, x);
  if (kActivation == Activation::kRelu) return Relu(d, x);
  if (kActivation == Activation::kSilu) return Silu(d, x);
  return x;
}

template <Activation kActivation>
HWY_INLINE void ActivateRow(float* row) {
  const FloatTag d;
  for (int i = 0; i < kPanelTokens; i += kLanes) {
    hn::Store(Activate<kActivation>(hn::Load(d, row + i)), d, row + i);
  }
}

HWY_NOINLINE void ActivatePanels(Activation activation, int64_t rows,
                                 int64_t panels, const PanelOutput& output) {
  if (activation == Activation::kNone) return;
  for (int64_t panel = 0; panel < panels; ++panel) {
    for (int64_t row = 0; row < rows; ++row) {
      float* at =
          output.data + row * output.row_stride + panel * output.panel_stride;
      if (activation == Activation::kGelu) ActivateRow<Activation::kGelu>(at);
      if (activation == Activation::kGeluTanh) {
        ActivateRow<Activation::kGeluTanh>(at);
      }
      if (activation == Activation::kRelu) ActivateRow<Activation::kRelu>(at);
      if (activation == Activation::kSilu) ActivateRow<Activation::kSilu>(at);
    }
  }
}

// kPanels panels, for all blocks of columns.
template <int kPanels>
HWY_NOINLINE void MultiplyBlocks(const MatrixView& matrix, int64_t rows,
                                 int64_t columns, const PanelView& input,
                                 const ProductEpilogue& epilogue,
                                 const PanelOutput& output) {
  Epilogue block_epilogue = epilogue;
  for (int64_t column = 0; column < columns; column += kSumBlock) {
    MultiplySumBlock<kPanels, kPanelTokens>(
        {matrix.data + column * matrix.column_stride, matrix.row_stride,
         matrix.column_stride},
        rows, HWY_MIN(kSumBlock, columns - column),
        PanelView{input.data + column * kPanelTokens, input.panel_stride},
        block_epilogue, output);
    block_epilogue = {nullptr, true};
  }
  HWY_NAMESPACE::ActivatePanels(epilogue.activation, rows, kPanels, output);
}

void MultiplyPanels(const MatrixView& matrix, int64_t rows, int64_t columns,
                    const PanelView& input, int64_t panels,
                    const ProductEpilogue& epilogue,
                    const PanelOutput& output) {
  for (int64_t panel = 0; panel < panels;) {
    const PanelView in = {input.data + panel * input.panel_stride,
                          input.panel_stride};
    const PanelOutput out = {output.data + panel * output.panel_stride,
                             output.row_stride, output.panel_stride};
    if (panels - panel >= kTilePanels) {
      MultiplyBlocks<kTilePanels>(matrix, rows, columns, in, epilogue, out);
      panel += kTilePanels;
    } else {
      MultiplyBlocks<1>(matrix, rows, columns, in, epilogue, out);
      ++panel;
    }
  }
}

HWY_INLINE FloatVector LoadAsFloat(const float* at) {
  return hn::LoadU(FloatTag(), at);
}

// Highway takes the exponent of infinities and NaN for that of numbers from
// 65536 up if the processor has no instruction that widens halves. No half is
// such a number.
HWY_INLINE FloatVector WithSpecialNumbers(FloatVector wide) {
#if HWY_TARGET == HWY_SCALAR || \
    (HWY_ARCH_X86 && (HWY_TARGET > HWY_AVX2 || defined(HWY_DISABLE_F16C)))
  const hn::RebindToUnsigned<FloatTag> bits;
  const FloatVector special = hn::BitCast(
      FloatTag(), hn::Or(hn::BitCast(bits, wide), hn::Set(bits, 0x7f800000)));
  const FloatVector end = hn::Set(FloatTag(), 65536.0f);
  return hn::IfThenElse(hn::Ge(hn::Abs(wide), end), special, wide);
#else
  return wide;
#endif
}

HWY_INLINE FloatVector LoadAsFloat(const hwy::float16_t* at) {
  const hn::Rebind<hwy::float16_t, FloatTag> d;
  return WithSpecialNumbers(hn::PromoteTo(FloatTag(), hn::LoadU(d, at)));
}
HWY_INLINE FloatVector LoadAsFloat(const hwy::bfloat16_t* at) {
  const hn::Rebind<hwy::bfloat16_t, FloatTag> d;
  return hn::PromoteTo(FloatTag(), hn::LoadU(d, at));
}

// One block of columns of kRows rows.
template <int kRows, class T>
HWY_INLINE void MultiplyVectorBlock(const T* HWY_RESTRICT matrix,
                                    int64_t row_stride, int64_t columns,
                                    const float* HWY_RESTRICT input,
                                    float (&result)[kRows]) {
  const FloatTag d;
  FloatVector sum[kRows][kVectors];
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kVectors; ++i) sum[row][i] = hn::Zero(d);
  }
  int64_t column = 0;
  for (; column + kPanelTokens <= columns; column += kPanelTokens) {
    for (int i = 0; i < kVectors; ++i) {
      const FloatVector x = hn::LoadU(d, input + column + i * kLanes);
      for (int row = 0; row < kRows; ++row) {
        const FloatVector weight =
            LoadAsFloat(matrix + row * row_stride + column + i * kLanes);
        sum[row][i] = hn::MulAdd(weight, x, sum[row][i]);
      }
    }
  }
  if (column < columns) {
    HWY_ALIGN float x_tail[kPanelTokens] = {};
    std::memcpy(x_tail, input + column, (columns - column) * sizeof(float));
    for (int row = 0; row < kRows; ++row) {
      HWY_ALIGN T tail[kPanelTokens];
      std::memset(static_cast<void*>(tail), 0, sizeof(tail));
      std::memcpy(static_cast<void*>(tail), matrix + row * row_stride + column,
                  (columns - column) * sizeof(T));
      for (int i = 0; i < kVectors; ++i) {
        sum[row][i] = hn::MulAdd(LoadAsFloat(tail + i * kLanes),
                                 hn::Load(d, x_tail + i * kLanes), sum[row][i]);
      }
    }
  }
  for (int row = 0; row < kRows; ++row) result[row] = SumLanes(sum[row]);
}

// kRows rows that are row_stride apart, each `step` places after the one before
// in the bias and the output.
template <int kRows, class T>
HWY_INLINE void MultiplyVectorRows(const T* matrix, int64_t row_stride,
                                   int64_t columns, const float* input,
                                   const float* bias, bool accumulate,
                                   float* output, int64_t output_stride,
                                   int64_t step) {
  float total[kRows];
  for (int row = 0; row < kRows; ++row) {
    total[row] = bias == nullptr ? 0.0f : bias[row * step];
    if (accumulate) {
      total[row] = output[row * step * output_stride] + total[row];
    }
  }
  for (int64_t column = 0; column < columns; column += kSumBlock) {
    float block[kRows];
    MultiplyVectorBlock<kRows>(matrix + column, row_stride,
                               HWY_MIN(kSumBlock, columns - column),
                               input + column, block);
    for (int row = 0; row < kRows; ++row) total[row] += block[row];
  }
  for (int row = 0; row < kRows; ++row) {
    output[row * step * output_stride] = total[row];
  }
}

// Rows that are read side by side are a page apart: within a page, processors
// fetch only one run ahead.
template <class T>
HWY_NOINLINE void MultiplyVectorTyped(const T* matrix, int64_t row_stride,
                                      int64_t rows, int64_t columns,
                                      const float* input,
                                      const ProductEpilogue& epilogue,
                                      float* output, int64_t output_stride) {
  constexpr int kRows = kLanes >= 8 ? 4 : 2;
  constexpr int64_t kPage = kPageBytes / sizeof(T);
  const auto multiply = [&](auto count, int64_t row, int64_t step) HWY_ATTR {
    MultiplyVectorRows<count.value>(
        matrix + row * row_stride, step * row_stride, columns, input,
        epilogue.bias == nullptr ? nullptr : epilogue.bias + row,
        epilogue.accumulate, output + row * output_stride, output_stride, step);
  };
  const int64_t step = (kPage + row_stride - 1) / HWY_MAX(1, row_stride);
  int64_t row = 0;
  for (; row + kRows * step <= rows; row += kRows * step) {
    for (int64_t i = 0; i < step; ++i) {
      multiply(std::integral_constant<int, kRows>(), row + i, step);
    }
  }
  for (; row < rows; ++row) {
    multiply(std::integral_constant<int, 1>(), row, 1);
  }
}

void ActivateVector(Activation activation, int64_t count, float* output,
                    int64_t stride) {
  if (activation == Activation::kNone) return;
  HWY_ALIGN float values[kPanelTokens];
  for (int64_t first = 0; first < count; first += kPanelTokens) {
    const int64_t here = HWY_MIN(kPanelTokens, count - first);
    for (int64_t i = 0; i < kPanelTokens; ++i) {
      values[i] = i < here ? output[(first + i) * stride] : 0.0f;
    }
    HWY_NAMESPACE::ActivatePanels(activation, 1, 1, {values, 0, 0});
    for (int64_t i = 0; i < here; ++i) output[(first + i) * stride] = values[i];
  }
}

void MultiplyVector(DType type, const void* matrix, int64_t row_stride,
                    int64_t rows, int64_t columns, const float* input,
                    const ProductEpilogue& epilogue, float* output,
                    int64_t output_stride) {
  switch (type) {
    case DType::kF32:
      MultiplyVectorTyped(static_cast<const float*>(matrix), row_stride, rows,
                          columns, input, epilogue, output, output_stride);
      break;
    case DType::kBF16:
      MultiplyVectorTyped(static_cast<const hwy::bfloat16_t*>(matrix),
                          row_stride, rows, columns, input, epilogue, output,
                          output_stride);
      break;
    case DType::kF16:
      MultiplyVectorTyped(static_cast<const hwy::float16_t*>(matrix),
                          row_stride, rows, columns, input, epilogue, output,
                          output_stride);
      break;
    default:
      MultiplyQuantisedVector(type, matrix, row_stride, rows, columns, input,
                              epilogue, output, output_stride);
  }
  HWY_NAMESPACE::ActivateVector(epilogue.activation, rows, output,
                                output_stride);
}

// Sums a block of columns for some tokens, one in each lane. Each token's
// sixteen sums are those of MultiplyVectorBlock and are added as SumLanes does.
template <int kRows>
HWY_INLINE void SumBlockOfLanes(const float* HWY_RESTRICT matrix,
                                int64_t row_stride, int64_t columns,
                                const float* HWY_RESTRICT input,
                                FloatVector (&result)[kRows]) {
  const FloatTag d;
  constexpr int kSums = static_cast<int>(kPanelTokens);
  HWY_ALIGN float sums[kSums][kRows][kLanes];
  for (int first = 0; first < kSums; ++first) {
    FloatVector sum[kRows];
    for (int row = 0; row < kRows; ++row) sum[row] = hn::Zero(d);
    int64_t column = first;
    for (; column < columns; column += kSums) {
      const FloatVector x = hn::LoadU(d, input + column * kPanelTokens);
      for (int row = 0; row < kRows; ++row) {
        sum[row] = hn::MulAdd(hn::Set(d, matrix[row * row_stride + column]), x,
                              sum[row]);
      }
    }
    // A vector's last columns are filled up with zeros.
    const bool adds_zero = column < (columns + kSums - 1) / kSums * kSums;
    for (int row = 0; row < kRows; ++row) {
      if (adds_zero) sum[row] = hn::Add(sum[row], hn::Zero(d));
      hn::Store(sum[row], d, sums[first][row]);
    }
  }
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      for (int row = 0; row < kRows; ++row) {
        hn::Store(hn::Add(hn::Load(d, sums[i][row]),
                          hn::Load(d, sums[i + half][row])),
                  d, sums[i][row]);
      }
    }
  }
  for (int row = 0; row < kRows; ++row) {
    result[row] = hn::Load(d, sums[0][row]);
  }
}

template <int kRows>
HWY_INLINE void MultiplyRowsOfLanes(const float* matrix, int64_t row_stride,
                                    int64_t columns, const float* input,
                                    const float* bias, bool accumulate,
                                    float* output, int64_t output_stride) {
  const FloatTag d;
  FloatVector total[kRows];
  for (int row = 0; row < kRows; ++row) {
    total[row] = hn::Set(d, bias == nullptr ? 0.0f : bias[row]);
    if (accumulate) {
      total[row] =
          hn::Add(hn::LoadU(d, output + row * output_stride), total[row]);
    }
  }
  for (int64_t column = 0; column < columns; column += kSumBlock) {
    FloatVector block[kRows];
    SumBlockOfLanes<kRows>(matrix + column, row_stride,
                           HWY_MIN(kSumBlock, columns - column),
                           input + column * kPanelTokens, block);
    for (int row = 0; row < kRows; ++row) {
      total[row] = hn::Add(total[row], block[row]);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    hn::StoreU(total[row], d, output + row * output_stride);
  }
}

HWY_NOINLINE void MultiplyPanelsAsVectors(
    const float* matrix, int64_t row_stride, int64_t rows, int64_t columns,
    const PanelView& input, int64_t panels, const Epilogue& epilogue,
    const PanelOutput& output) {
  constexpr int kRows = 8;
  const auto multiply = [&](auto count, int64_t row) HWY_ATTR {
    for (int64_t panel = 0; panel < panels; ++panel) {
      for (int64_t lane = 0; lane < kPanelTokens; lane += kLanes) {
        MultiplyRowsOfLanes<count.value>(
            matrix + row * row_stride, row_stride, columns,
            input.data + panel * input.panel_stride + lane,
            epilogue.bias == nullptr ? nullptr : epilogue.bias + row,
            epilogue.accumulate,
            output.data + panel * output.panel_stride +
                row * output.row_stride + lane,
            output.row_stride);
      }
    }
  };
  int64_t row = 0;
  for (; row + kRows <= rows; row += kRows) {
    multiply(std::integral_constant<int, kRows>(), row);
  }
  for (; row < rows; ++row) multiply(std::integral_constant<int, 1>(), row);
}

// kRows rows, each a stream that the processor fetches ahead.
template <int kRows, class T>
HWY_INLINE void AddSomeRows(const T* HWY_RESTRICT matrix, int64_t row_stride,
                            int64_t columns, const float* HWY_RESTRICT scales,
                            float* HWY_RESTRICT sums) {
  const FloatTag d;
  int64_t column = 0;
  for (; column + kLanes <= columns; column += kLanes) {
    FloatVector sum = hn::LoadU(d, sums + column);
    for (int row = 0; row < kRows; ++row) {
      sum = hn::MulAdd(LoadAsFloat(matrix + row * row_stride + column),
                       hn::Set(d, scales[row]), sum);
    }
    hn::StoreU(sum, d, sums + column);
  }
  if (column == columns) return;
  const int64_t left = columns - column;
  HWY_ALIGN float sum_tail[kPanelTokens] = {};
  std::memcpy(sum_tail, sums + column, left * sizeof(float));
  FloatVector sum = hn::Load(d, sum_tail);
  for (int row = 0; row < kRows; ++row) {
    HWY_ALIGN T tail[kPanelTokens];
    std::memset(static_cast<void*>(tail), 0, sizeof(tail));
    std::memcpy(static_cast<void*>(tail), matrix + row * row_stride + column,
                left * sizeof(T));
    sum = hn::MulAdd(LoadAsFloat(tail), hn::Set(d, scales[row]), sum);
  }
  hn::Store(sum, d, sum_tail);
  std::memcpy(sums + column, sum_tail, left * sizeof(float));
}

// All rows of a narrow strip of columns, whose sums stay in registers.
template <class T>
HWY_INLINE void AddStripRows(const T* HWY_RESTRICT matrix, int64_t row_stride,
                             int64_t rows, const float* HWY_RESTRICT scales,
                             float* HWY_RESTRICT sums) {
  const FloatTag d;
  FloatVector sum[kStripVectors];
  for (int i = 0; i < kStripVectors; ++i) {
    sum[i] = hn::LoadU(d, sums + i * kLanes);
  }
  for (int64_t row = 0; row < rows; ++row) {
    const FloatVector scale = hn::Set(d, scales[row]);
    for (int i = 0; i < kStripVectors; ++i) {
      sum[i] = hn::MulAdd(LoadAsFloat(matrix + row * row_stride + i * kLanes),
                          scale, sum[i]);
    }
  }
  for (int i = 0; i < kStripVectors; ++i) {
    hn::StoreU(sum[i], d, sums + i * kLanes);
  }
}

// Rows that are a page or more apart are read side by side, shorter ones one
// after the other: within a page, processors fetch only one run ahead. Either
// way a sum takes the rows in their order.
template <class T>
HWY_NOINLINE void AddScaledRowsTyped(const T* matrix, int64_t row_stride,
                                     int64_t rows, int64_t columns,
                                     const float* scales, float* sums) {
  constexpr int64_t kStrip = kStripVectors * kLanes;
  if (row_stride * static_cast<int64_t>(sizeof(T)) < kPageBytes) {
    for (; columns >= kStrip; columns -= kStrip) {
      AddStripRows(matrix, row_stride, rows, scales, sums);
      matrix += kStrip;
      sums += kStrip;
    }
  }
  constexpr int kRows = 8;
  int64_t row = 0;
  for (; row + kRows <= rows; row += kRows) {
    AddSomeRows<kRows>(matrix + row * row_stride, row_stride, columns,
                       scales + row, sums);
  }
  for (; row < rows; ++row) {
    AddSomeRows<1>(matrix + row * row_stride, row_stride, columns, scales + row,
                   sums);
  }
}

void AddScaledRows(DType type, const void* matrix, int64_t row_stride,
                   int64_t rows, int64_t columns, const float* scales,
                   float* sums) {
  switch (type) {
    case DType::kF32:
      AddScaledRowsTyped(static_cast<const float*>(matrix), row_stride, rows,
                         columns, scales, sums);
      break;
    case DType::kBF16:
      AddScaledRowsTyped(static_cast<const hwy::bfloat16_t*>(matrix),
                         row_stride, rows, columns, scales, sums);
      break;
    case DType::kF16:
      AddScaledRowsTyped(static_cast<const hwy::float16_t*>(matrix), row_stride,
                         rows, columns, scales, sums);
      break;
    default:
      HWY_ABORT("no arithmetic on %s", DTypeName(type).data());
  }
}

template <class T>
void Widen(const T* source, int64_t count, float* destination) {
  const FloatTag d;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(LoadAsFloat(source + i), d, destination + i);
  }
  if (i == count) return;
  HWY_ALIGN T tail[kPanelTokens];
  HWY_ALIGN float wide[kPanelTokens];
  std::memset(static_cast<void*>(tail), 0, sizeof(tail));
  std::memcpy(static_cast<void*>(tail), source + i, (count - i) * sizeof(T));
  hn::Store(LoadAsFloat(tail), d, wide);
  std::memcpy(destination + i, wide, (count - i) * sizeof(float));
}

void WidenToFloat(DType type, const void* source, int64_t count,
                  float* destination) {
  switch (type) {
    case DType::kF32:
      std::memcpy(destination, source, count * sizeof(float));
      break;
    case DType::kBF16:
      Widen(static_cast<const hwy::bfloat16_t*>(source), count, destination);
      break;
    case DType::kF16:
      Widen(static_cast<const hwy::float16_t*>(source), count, destination);
      break;
    default:
      WidenQuantised(type, source, count, destination);
  }
}

const char* VectorInstructionsName() { return hwy::TargetName(HWY_TARGET); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(MultiplyPanels);
HWY_EXPORT(MultiplyVector);
HWY_EXPORT(MultiplyPanelsAsVectors);
HWY_EXPORT(AddScaledRows);
HWY_EXPORT(ActivateVector);
HWY_EXPORT(ActivatePanels);
HWY_EXPORT(WidenToFloat);
HWY_EXPORT(VectorInstructionsName);

void MultiplyPanels(const MatrixView& matrix, int64_t rows, int64_t columns,
                    const PanelView& input, int64_t panels,
                    const ProductEpilogue& epilogue,
                    const PanelOutput& output) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanels)
  (matrix, rows, columns, input, panels, epilogue, output);
}

void MultiplyVector(DType type, const void* matrix, int64_t row_stride,
                    int64_t rows, int64_t columns, const float* input,
                    const ProductEpilogue& epilogue, float* output,
                    int64_t output_stride) {
  HWY_DYNAMIC_DISPATCH(MultiplyVector)
  (type, matrix, row_stride, rows, columns, input, epilogue, output,
   output_stride);
}

void MultiplyPanelsAsVectors(const float* matrix, int64_t row_stride,
                             int64_t rows, int64_t columns,
                             const PanelView& input, int64_t panels,
                             const Epilogue& epilogue,
                             const PanelOutput& output) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanelsAsVectors)
  (matrix, row_stride, rows, columns, input, panels, epilogue, output);
}

void AddScaledRows(DType type, const void* matrix, int64_t row_stride,
                   int64_t rows, int64_t columns, const float* scales,
                   float* sums) {
  HWY_DYNAMIC_DISPATCH(AddScaledRows)
  (type, matrix, row_stride, rows, columns, scales, sums);
}

void ActivateVector(Activation activation, int64_t count, float* output,
                    int64_t stride) {
  HWY_DYNAMIC_DISPATCH(ActivateVector)(activation, count, output, stride);
}

void ActivatePanels(Activation activation, int64_t rows, int64_t panels,
                    const PanelOutput& output) {
  HWY_DYNAMIC_DISPATCH(ActivatePanels)(activation, rows, panels, output);
}

void WidenToFloat(DType type, const void* source, int64_t count,
                  float* destination) {
  HWY_DYNAMIC_DISPATCH(WidenToFloat)(type, source, count, destination);
}

const char* VectorInstructionsName() {
  return HWY_DYNAMIC_DISPATCH(VectorInstructionsName)();
}

}  // namespace footprint
#endif  // HWY_ONCE
