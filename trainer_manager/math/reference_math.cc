#include <algorithm>

#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {
namespace {

// The output positions along one axis, from `begin` to before `end`, at which
// an offset of the kernel lies within the input and not in its padding.
struct Positions {
  int64_t begin;
  int64_t end;
};

Positions ValidPositions(int64_t offset, int64_t input, int64_t output,
                         const Convolution& c) {
  const int64_t shift = c.padding - offset;
  const int64_t begin = shift <= 0 ? 0 : (shift + c.stride - 1) / c.stride;
  const int64_t last = input - 1 + shift;
  const int64_t end = last < 0 ? 0 : last / c.stride + 1;
  return {begin, std::min(end, output)};
}

// Calls visit(input index, output index, weight index) for each product of one
// image, one output channel and one input channel, in a fixed order.
template <typename Visit>
void ForEachProduct(const Convolution& c, Visit visit) {
  for (int64_t ky = 0; ky < c.kernel; ++ky) {
    const Positions rows =
        ValidPositions(ky, c.input_height, c.output_height, c);
    for (int64_t kx = 0; kx < c.kernel; ++kx) {
      const Positions columns =
          ValidPositions(kx, c.input_width, c.output_width, c);
      for (int64_t y = rows.begin; y < rows.end; ++y) {
        const int64_t in_row =
            (y * c.stride + ky - c.padding) * c.input_width + kx - c.padding;
        const int64_t out_row = y * c.output_width;
        for (int64_t x = columns.begin; x < columns.end; ++x) {
          visit(in_row + x * c.stride, out_row + x, ky * c.kernel + kx);
        }
      }
    }
  }
}

// Calls visit with the offsets of each pair of planes.
template <typename Visit>
void ForEachPlane(const Convolution& c, Visit visit) {
  const int64_t in_plane = c.input_height * c.input_width;
  const int64_t out_plane = c.output_height * c.output_width;
  const int64_t window = c.kernel * c.kernel;
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t o = 0; o < c.output_channels; ++o) {
      for (int64_t i = 0; i < c.input_channels; ++i) {
        visit((b * c.input_channels + i) * in_plane,
              (b * c.output_channels + o) * out_plane,
              (o * c.input_channels + i) * window);
      }
    }
  }
}

class Reference final : public MathBackend {
 public:
  int64_t WorkspaceBytes(const MatrixProduct&) const override { return 0; }
  int64_t SumBlock() const override { return 1; }

  void Multiply(const MatrixProduct& p, const float* left, const float* right,
                float* result, void*) const override {
    for (int64_t r = 0; r < p.rows; ++r) {
      float* row = result + r * p.ResultStride();
      if (!p.accumulate) std::fill(row, row + p.columns, 0.0f);
      for (int64_t k = 0; k < p.inner; ++k) {
        const float a = p.transpose_left ? left[k * p.LeftStride() + r]
                                         : left[r * p.LeftStride() + k];
        for (int64_t c = 0; c < p.columns; ++c) {
          row[c] += a * (p.transpose_right ? right[c * p.inner + k]
                                           : right[k * p.columns + c]);
        }
      }
    }
  }

  int64_t WorkspaceBytes(const Convolution&, ConvolutionStep) const override {
    return 0;
  }

  void ConvolutionForward(const Convolution& c, const float* input,
                          const float* weight, const float* bias, float* output,
                          void*) const override {
    const int64_t plane = c.output_height * c.output_width;
    for (int64_t i = 0; i < c.batch * c.output_channels; ++i) {
      const float value = bias == nullptr ? 0.0f : bias[i % c.output_channels];
      std::fill(output + i * plane, output + (i + 1) * plane, value);
    }
    ForEachPlane(c, [&](int64_t in, int64_t out, int64_t window) {
      ForEachProduct(c, [&](int64_t i, int64_t o, int64_t w) {
        output[out + o] += weight[window + w] * input[in + i];
      });
    });
  }

  void ConvolutionGradient(const Convolution& c, const float* input,
                           const float* output_derivative,
                           float* weight_gradient, void*) const override {
    std::fill(weight_gradient,
              weight_gradient +
                  c.output_channels * c.input_channels * c.kernel * c.kernel,
              0.0f);
    ForEachPlane(c, [&](int64_t in, int64_t out, int64_t window) {
      ForEachProduct(c, [&](int64_t i, int64_t o, int64_t w) {
        weight_gradient[window + w] +=
            input[in + i] * output_derivative[out + o];
      });
    });
  }

  void ConvolutionDerivative(const Convolution& c, const float* weight,
                             const float* output_derivative,
                             float* input_derivative, void*) const override {
    std::fill(input_derivative,
              input_derivative +
                  c.batch * c.input_channels * c.input_height * c.input_width,
              0.0f);
    ForEachPlane(c, [&](int64_t in, int64_t out, int64_t window) {
      ForEachProduct(c, [&](int64_t i, int64_t o, int64_t w) {
        input_derivative[in + i] +=
            weight[window + w] * output_derivative[out + o];
      });
    });
  }
};

}  // namespace

const MathBackend& ReferenceMath() {
  static const Reference* const reference = new Reference;
  return *reference;
}

}  // namespace footprint
