#include "footprint/trainer_manager/math/highway_backend.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/vector_targets.h"
#include "footprint/trainer_manager/math/product_blocks.h"
#include "footprint/trainer_manager/math/shifted_images.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer_manager/math/highway_backend.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h.
#include "footprint/base/simd/dense_tile-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace highway_backend_internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using footprint::HWY_NAMESPACE::kTileRows;
using footprint::HWY_NAMESPACE::MultiplySumBlock;

// The columns of a panel where they do not lie side by side in the result: tile
// by tile, each number put into its place.
HWY_INLINE void MultiplyApart(int64_t rows, int64_t inner, MatrixView left,
                              const PanelView& right, Epilogue epilogue,
                              const Columns& columns, float* result,
                              int64_t row_stride) {
  const bool accumulate = epilogue.accumulate;
  epilogue.accumulate = false;
  for (int64_t r = 0; r < rows; r += kTileRows) {
    const int64_t count = std::min<int64_t>(kTileRows, rows - r);
    HWY_ALIGN float tile[kTileRows * kPanelWidth];
    MultiplySumBlock<1, kPanelWidth>(left, count, inner, right, epilogue,
                                     {tile, kPanelWidth});
    for (int64_t j = 0; j < columns.count; ++j) {
      float* column =
          result + r * row_stride + columns.offsets[static_cast<size_t>(j)];
      for (int64_t i = 0; i < count; ++i) {
        const float value = tile[i * kPanelWidth + j];
        column[i * row_stride] =
            accumulate ? column[i * row_stride] + value : value;
      }
    }
    left.data += kTileRows * left.row_stride;
    if (epilogue.bias != nullptr) epilogue.bias += kTileRows;
  }
}

// Panels of the right operand, one after the other. What the last lacks in
// columns is zeros.
template <class Right>
HWY_INLINE void PackPanels(const Right& right, int64_t inner, int64_t count,
                           int64_t column, int64_t columns, float* to) {
  for (int64_t j = 0; j < columns;
       j += kPanelWidth, to += count * kPanelWidth) {
    const int64_t width = std::min(kPanelWidth, columns - j);
    if (width < kPanelWidth) std::fill(to, to + count * kPanelWidth, 0.0f);
    right.PackPanel(inner, count, column + j, width, to);
  }
}

// result = left * right. `left.Block(row, rows, inner, count, scratch)` yields
// rows of the left operand, `right.PackPanel(inner, count, column, width, to)`
// writes a panel of the right one, `target.Of(column)` is where columns lie.
template <class Left, class Right, class Target>
HWY_INLINE void MultiplyBlocks(const Extent& extent, const Left& left,
                               const Right& right, const Target& target,
                               const float* bias, float* result,
                               void* workspace) {
  const Scratch scratch(workspace, extent);
  const int64_t most_columns = extent.block_columns();
  for (int64_t n = 0; n < extent.columns; n += most_columns) {
    const int64_t columns = std::min(most_columns, extent.columns - n);
    for (int64_t k = 0; k < extent.inner; k += kSumBlock) {
      const int64_t inner = std::min(kSumBlock, extent.inner - k);
      PackPanels(right, k, inner, n, columns, scratch.right);
      for (int64_t m = 0; m < extent.rows; m += kBlockRows) {
        const int64_t rows = std::min(kBlockRows, extent.rows - m);
        const MatrixView block = left.Block(m, rows, k, inner, scratch.left);
        const Epilogue epilogue = {
            k == 0 && bias != nullptr ? bias + m : nullptr, k > 0};
        for (int64_t j = 0; j < columns; j += kPanelWidth) {
          const PanelView panel = {scratch.right + j * inner};
          const Columns place = target.Of(n + j);
          float* const to = result + m * target.row_stride();
          if (place.side_by_side) {
            MultiplySumBlock<1, kPanelWidth>(
                block, rows, inner, panel, epilogue,
                {to + place.offsets[0], target.row_stride()});
          } else {
            MultiplyApart(rows, inner, block, panel, epilogue, place, to,
                          target.row_stride());
          }
        }
      }
    }
  }
}

// Operands that are matrices.

struct MatrixLeft {
  const float* data;
  int64_t stride;
  bool transposed;

  // A transposed block is copied, or its rows would fall on few cache lines.
  MatrixView Block(int64_t row, int64_t rows, int64_t inner, int64_t count,
                   float* scratch) const {
    if (!transposed) return {data + row * stride + inner, stride, 1};
    for (int64_t k = 0; k < count; ++k) {
      std::memcpy(scratch + k * rows, data + (inner + k) * stride + row,
                  static_cast<size_t>(rows) * sizeof(float));
    }
    return {scratch, 1, rows};
  }
};

struct MatrixRight {
  const float* data;
  int64_t stride;
  bool transposed;

  HWY_INLINE void PackPanel(int64_t inner, int64_t count, int64_t column,
                            int64_t width, float* to) const {
    if (transposed) {
      PackTransposed(data + column * stride + inner, count, width, to);
      return;
    }
    const float* from = data + inner * stride + column;
    for (int64_t k = 0; k < count; ++k) {
      Copy(from + k * stride, width, to + k * kPanelWidth);
    }
  }

 private:
  static HWY_INLINE void Copy(const float* from, int64_t width, float* to) {
    if (width == kPanelWidth) {
      std::memcpy(to, from, kPanelWidth * sizeof(float));
    } else {
      for (int64_t i = 0; i < width; ++i) to[i] = from[i];
    }
  }
  HWY_INLINE void PackTransposed(const float* from, int64_t count,
                                 int64_t width, float* to) const {
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t i = 0; i < width; ++i) {
        to[k * kPanelWidth + i] = from[i * stride + k];
      }
    }
  }
};

struct MatrixTarget {
  int64_t columns;

  int64_t row_stride() const { return columns; }
  Columns Of(int64_t column) const {
    Columns c;
    c.count = std::min(kPanelWidth, columns - column);
    c.side_by_side = c.count == kPanelWidth;
    for (int64_t j = 0; j < c.count; ++j) {
      c.offsets[static_cast<size_t>(j)] = column + j;
    }
    return c;
  }
};

// A small product, where it lies: nothing is packed.
HWY_NOINLINE void MultiplyInPlace(const MatrixProduct& p, const float* left,
                                  const float* right, float* result) {
  for (int64_t k = 0; k < p.inner; k += kSumBlock) {
    const int64_t inner = std::min(kSumBlock, p.inner - k);
    const MatrixView block = p.transpose_left
                                 ? MatrixView{left + k * p.rows, 1, p.rows}
                                 : MatrixView{left + k, p.inner, 1};
    const Epilogue epilogue = {nullptr, k > 0};
    int64_t c = 0;
    for (; !p.transpose_right && c + kPanelWidth <= p.columns;
         c += kPanelWidth) {
      MultiplySumBlock<1, kPanelWidth>(
          block, p.rows, inner,
          MatrixView{right + k * p.columns + c, p.columns, 1}, epilogue,
          {result + c, p.columns});
    }
    for (; c < p.columns; ++c) {
      const MatrixView column =
          p.transpose_right
              ? MatrixView{right + c * p.inner + k, 1, p.inner}
              : MatrixView{right + k * p.columns + c, p.columns, 1};
      MultiplySumBlock<1, 1>(block, p.rows, inner, column, epilogue,
                             {result + c, p.columns});
    }
  }
}

void Multiply(const MatrixProduct& p, const float* left, const float* right,
              float* result, void* workspace) {
  if (workspace == nullptr) {
    MultiplyInPlace(p, left, right, result);
    return;
  }
  MultiplyBlocks(
      ExtentOf(p),
      MatrixLeft{left, p.transpose_left ? p.rows : p.inner, p.transpose_left},
      MatrixRight{right, p.transpose_right ? p.inner : p.columns,
                  p.transpose_right},
      MatrixTarget{p.columns}, nullptr, result, workspace);
}

// Operands of convolutions.

// Weights [output channels, input channels, kernel, kernel] as they lie.
struct WeightLeft {
  const float* data;
  int64_t stride;

  MatrixView Block(int64_t row, int64_t, int64_t inner, int64_t, float*) const {
    return {data + row * stride + inner, stride, 1};
  }
};

// Rows are input channels; the inner index is (output channel, tap).
struct TurnedWeightLeft {
  const float* data;
  int64_t input_channels;
  Taps taps;

  MatrixView Block(int64_t row, int64_t rows, int64_t inner, int64_t count,
                   float* scratch) const {
    const int64_t window = taps.kernel * taps.kernel;
    TapCursor cursor(taps, inner);
    for (int64_t k = 0; k < count; ++k, cursor.Next()) {
      const float* from = data +
                          (cursor.channel() * input_channels + row) * window +
                          cursor.weight();
      for (int64_t m = 0; m < rows; ++m) {
        scratch[k * rows + m] = from[m * window];
      }
    }
    return {scratch, 1, rows};
  }
};

struct ImagesRight {
  const ShiftedImages& images;
  Taps taps;

  HWY_INLINE void PackPanel(int64_t inner, int64_t count, int64_t column,
                            int64_t width, float* to) const {
    std::array<Run, kPanelWidth> runs;
    size_t used = 0;
    RunCursor run_cursor(images, column);
    for (int64_t done = 0; done < width; done += runs[used++].count) {
      runs[used] = run_cursor.Next(width - done);
    }
    TapCursor cursor(taps, inner);
    for (int64_t k = 0; k < count; ++k, to += kPanelWidth, cursor.Next()) {
      float* next = to;
      for (size_t i = 0; i < used; ++i) {
        CopyRun(images, runs[i], cursor.channel(), cursor.tap(), next);
        next += runs[i].count;
      }
    }
  }
};

// The same, as the left operand: rows are (channel, tap), the inner index is
// the column of the grid.
struct ImagesLeft {
  const ShiftedImages& images;
  Taps taps;

  MatrixView Block(int64_t row, int64_t rows, int64_t inner, int64_t count,
                   float* scratch) const {
    std::array<Run, kSumBlock> runs;
    size_t used = 0;
    RunCursor run_cursor(images, inner);
    for (int64_t done = 0; done < count; done += runs[used++].count) {
      runs[used] = run_cursor.Next(count - done);
    }
    TapCursor cursor(taps, row);
    float* to = scratch;
    for (int64_t m = 0; m < rows; ++m, cursor.Next()) {
      for (size_t i = 0; i < used; ++i) {
        CopyRun(images, runs[i], cursor.channel(), cursor.tap(), to);
        to += runs[i].count;
      }
    }
    return {scratch, count, 1};
  }
};

// Images [batch, channels, pixels]: the inner index is (image, pixel), columns
// are channels.
struct ChannelsRight {
  const float* data;
  int64_t channels;
  int64_t pixels;

  HWY_INLINE void PackPanel(int64_t inner, int64_t count, int64_t column,
                            int64_t width, float* to) const {
    int64_t pixel = inner % pixels;
    const float* image = data + (inner / pixels * channels + column) * pixels;
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t i = 0; i < width; ++i) {
        to[k * kPanelWidth + i] = image[i * pixels + pixel];
      }
      if (++pixel == pixels) {
        pixel = 0;
        image += channels * pixels;
      }
    }
  }
};

// Columns are the places (image, y, x) of a grid in images [batch, channels,
// height, width], rows are channels.
struct ImagesTarget {
  int64_t columns;
  int64_t channels;
  int64_t height;
  int64_t width;
  int64_t grid_height;
  int64_t grid_width;
  int64_t step;
  int64_t phase_y;
  int64_t phase_x;

  int64_t row_stride() const { return height * width; }
  Columns Of(int64_t column) const {
    Columns c;
    c.count = std::min(kPanelWidth, columns - column);
    int64_t x = column % grid_width;
    int64_t y = column / grid_width % grid_height;
    int64_t image = column / grid_width / grid_height;
    for (int64_t j = 0; j < c.count; ++j) {
      c.offsets[static_cast<size_t>(j)] = image * channels * height * width +
                                          (y * step + phase_y) * width +
                                          x * step + phase_x;
      if (++x < grid_width) continue;
      x = 0;
      if (++y < grid_height) continue;
      y = 0;
      ++image;
    }
    c.side_by_side =
        c.count == kPanelWidth &&
        c.offsets[kPanelWidth - 1] - c.offsets[0] == kPanelWidth - 1;
    return c;
  }
};

// Columns are rows of the result, as of a transposed matrix.
struct TransposedTarget {
  int64_t columns;
  int64_t stride;

  int64_t row_stride() const { return 1; }
  Columns Of(int64_t column) const {
    Columns c;
    c.count = std::min(kPanelWidth, columns - column);
    for (int64_t j = 0; j < c.count; ++j) {
      c.offsets[static_cast<size_t>(j)] = (column + j) * stride;
    }
    return c;
  }
};

void Forward(const Convolution& c, const float* input, const float* weight,
             const float* bias, float* output, void* workspace) {
  const int64_t columns = c.batch * c.output_height * c.output_width;
  const int64_t inner = c.input_channels * c.kernel * c.kernel;
  const ShiftedImages images = {input,         c.input_channels, c.input_height,
                                c.input_width, c.output_height,  c.output_width,
                                c.stride};
  const ImagesTarget target = {columns,
                               c.output_channels,
                               c.output_height,
                               c.output_width,
                               c.output_height,
                               c.output_width,
                               1,
                               0,
                               0};
  MultiplyBlocks(ForwardExtent(c), WeightLeft{weight, inner},
                 ImagesRight{images, AllTaps(c)}, target, bias, output,
                 workspace);
}

void Gradient(const Convolution& c, const float* input,
              const float* output_derivative, float* weight_gradient,
              void* workspace) {
  const int64_t pixels = c.output_height * c.output_width;
  const int64_t rows = c.input_channels * c.kernel * c.kernel;
  const ShiftedImages images = {input,         c.input_channels, c.input_height,
                                c.input_width, c.output_height,  c.output_width,
                                c.stride};
  MultiplyBlocks(GradientExtent(c), ImagesLeft{images, AllTaps(c)},
                 ChannelsRight{output_derivative, c.output_channels, pixels},
                 TransposedTarget{c.output_channels, rows}, nullptr,
                 weight_gradient, workspace);
}

// Inputs whose places are alike modulo the stride are reached by the same
// places of the kernel: one product each.
void DerivativeOfPhase(const Convolution& c, int64_t phase_y, int64_t phase_x,
                       const float* weight, const float* output_derivative,
                       float* input_derivative, void* workspace) {
  const Taps taps = TapsOfPhase(c, phase_y, phase_x);
  const int64_t grid_height = (c.input_height - phase_y - 1) / c.stride + 1;
  const int64_t grid_width = (c.input_width - phase_x - 1) / c.stride + 1;
  const int64_t columns = c.batch * grid_height * grid_width;
  const int64_t inner = c.output_channels * taps.count();
  const ImagesTarget target = {columns,       c.input_channels, c.input_height,
                               c.input_width, grid_height,      grid_width,
                               c.stride,      phase_y,          phase_x};
  if (inner == 0) return;
  const ShiftedImages images = {output_derivative,
                                c.output_channels,
                                c.output_height,
                                c.output_width,
                                grid_height,
                                grid_width,
                                1};
  MultiplyBlocks({c.input_channels, columns, inner, true},
                 TurnedWeightLeft{weight, c.input_channels, taps},
                 ImagesRight{images, taps}, target, nullptr, input_derivative,
                 workspace);
}

void Derivative(const Convolution& c, const float* weight,
                const float* output_derivative, float* input_derivative,
                void* workspace) {
  // A place that nothing reaches stays 0.
  if (c.stride > c.kernel) {
    std::fill(input_derivative,
              input_derivative +
                  c.batch * c.input_channels * c.input_height * c.input_width,
              0.0f);
  }
  for (int64_t y = 0; y < std::min(c.stride, c.input_height); ++y) {
    for (int64_t x = 0; x < std::min(c.stride, c.input_width); ++x) {
      DerivativeOfPhase(c, y, x, weight, output_derivative, input_derivative,
                        workspace);
    }
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace highway_backend_internal
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {
namespace highway_backend_internal {
namespace {

HWY_EXPORT(Multiply);
HWY_EXPORT(Forward);
HWY_EXPORT(Gradient);
HWY_EXPORT(Derivative);

class Backend final : public MathBackend {
 public:
  int64_t WorkspaceBytes(const MatrixProduct& p) const override {
    if (p.rows * p.columns <= kSmallProduct / p.inner) return 0;
    return ExtentOf(p).workspace_bytes();
  }
  void Multiply(const MatrixProduct& product, const float* left,
                const float* right, float* result,
                void* workspace) const override {
    HWY_DYNAMIC_DISPATCH(Multiply)(product, left, right, result, workspace);
  }

  int64_t WorkspaceBytes(const Convolution& c,
                         ConvolutionStep step) const override {
    switch (step) {
      case ConvolutionStep::kForward:
        return ForwardExtent(c).workspace_bytes();
      case ConvolutionStep::kGradient:
        return GradientExtent(c).workspace_bytes();
      case ConvolutionStep::kDerivative:
        break;
    }
    return DerivativeExtent(c).workspace_bytes();
  }
  void ConvolutionForward(const Convolution& c, const float* input,
                          const float* weight, const float* bias, float* output,
                          void* workspace) const override {
    HWY_DYNAMIC_DISPATCH(Forward)(c, input, weight, bias, output, workspace);
  }
  void ConvolutionGradient(const Convolution& c, const float* input,
                           const float* output_derivative,
                           float* weight_gradient,
                           void* workspace) const override {
    HWY_DYNAMIC_DISPATCH(Gradient)
    (c, input, output_derivative, weight_gradient, workspace);
  }
  void ConvolutionDerivative(const Convolution& c, const float* weight,
                             const float* output_derivative,
                             float* input_derivative,
                             void* workspace) const override {
    HWY_DYNAMIC_DISPATCH(Derivative)
    (c, weight, output_derivative, input_derivative, workspace);
  }
};

}  // namespace
}  // namespace highway_backend_internal

const MathBackend& HighwayBackend() {
  static const highway_backend_internal::Backend* const backend =
      new highway_backend_internal::Backend;
  return *backend;
}

}  // namespace footprint
#endif  // HWY_ONCE
