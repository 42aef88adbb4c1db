// Matrix products, convolutions and divided loops behind one interface, so that
// tests can compare a library with plain loops.
//
//   const footprint::MathBackend& math = footprint::ReferenceMath();
//   math.Multiply({rows, columns, inner}, left, right, result, workspace);
//
// All matrices are dense, row by row. A backend keeps nothing and allocates
// nothing: the caller plans a workspace of the size that the backend names. If
// that size is 0, the product ignores the workspace that it gets. The order of
// summation depends only on the sizes, so results repeat bit for bit. A row of
// a product, or an image of a convolution, has the same bits whatever the
// number of rows or images, so a batch may be calculated in slices. The same
// holds for a column of a product, and for sums that are continued
// (MathBackend::SumBlock), so a matrix may be multiplied by tiles. Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_MATH_BACKEND_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_MATH_BACKEND_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace footprint {

// A product result[rows, columns] = left[rows, inner] * right[inner, columns].
// A transposed operand is stored as its transpose.
struct MatrixProduct {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t inner = 0;
  bool transpose_left = false;
  bool transpose_right = false;
  // If set, the product is added to `result`.
  bool accumulate = false;
  // The elements from one stored row to the next, for operands that are columns
  // of a wider matrix; 0 for a matrix of its own.
  int64_t left_stride = 0;
  int64_t result_stride = 0;

  int64_t LeftStride() const {
    if (left_stride != 0) return left_stride;
    return transpose_left ? rows : inner;
  }
  int64_t ResultStride() const {
    return result_stride == 0 ? columns : result_stride;
  }
};

// A convolution. Images are [batch, channels, height, width], weights
// [output_channels, input_channels, kernel, kernel], and bias
// [output_channels].
struct Convolution {
  int64_t batch = 0;
  int64_t input_channels = 0;
  int64_t input_height = 0;
  int64_t input_width = 0;
  int64_t output_channels = 0;
  int64_t output_height = 0;
  int64_t output_width = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t padding = 0;
};

enum class ConvolutionStep { kForward, kGradient, kDerivative };

// The indices of a loop that one thread runs: from `begin` to before `end`.
struct Band {
  // Its number: bands have different ones, from 0 to the number of bands less
  // 1, which is at most MathBackend::threads() and the number of indices.
  int thread = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

class MathBackend {
 public:
  virtual ~MathBackend() = default;

  // Returns the bytes of the workspace that Multiply needs, at any alignment.
  virtual int64_t WorkspaceBytes(const MatrixProduct& product) const = 0;
  // Overwrites `result`, or adds to it. It must not overlap the operands.
  virtual void Multiply(const MatrixProduct& product, const float* left,
                        const float* right, float* result,
                        void* workspace) const = 0;
  // Returns how many inner indices are summed before the sum is added to the
  // result. A product that is cut at multiples of this number, and whose parts
  // are accumulated in their order, has the bits of the whole product. Returns
  // 0 if Multiply ignores `accumulate` or strides; then nothing runs by tiles.
  virtual int64_t SumBlock() const { return 0; }

  // Returns the bytes of the workspace that the function of this step needs.
  // Each of the three functions overwrites the array that precedes the
  // workspace in its arguments. The extents of the output must be (extent + 2 *
  // padding - kernel) / stride + 1, rounded down.
  virtual int64_t WorkspaceBytes(const Convolution& convolution,
                                 ConvolutionStep step) const = 0;
  // Computes the output. A null bias means no bias.
  virtual void ConvolutionForward(const Convolution& convolution,
                                  const float* input, const float* weight,
                                  const float* bias, float* output,
                                  void* workspace) const = 0;
  // Computes the gradient of the weights.
  virtual void ConvolutionGradient(const Convolution& convolution,
                                   const float* input,
                                   const float* output_derivative,
                                   float* weight_gradient,
                                   void* workspace) const = 0;
  // Computes the derivative by the input.
  virtual void ConvolutionDerivative(const Convolution& convolution,
                                     const float* weight,
                                     const float* output_derivative,
                                     float* input_derivative,
                                     void* workspace) const = 0;

  // Returns the largest number of threads that work at the same time. A backend
  // with several threads overrides this and the next three functions.
  virtual int threads() const { return 1; }
  // Returns whether Multiply divides this product among the threads.
  virtual bool Divides(const MatrixProduct&) const { return false; }
  // Returns a backend with the same bits that computes on the calling thread.
  // It lives as long as this one.
  virtual const MathBackend& OneThread() const { return *this; }
  // Divides the indices of a loop, from 0 to `count`, into bands, calls `work`
  // for each, at the same time on different threads, and returns when all calls
  // have returned. There is only one band if the loop is short: `index_size` is
  // the number of array elements that an index stands for. Band limits depend
  // on the number of threads, so what `work` writes for an index must not
  // depend on the other indices of its band. `work` may use only OneThread().
  virtual void ForEachBand(
      int64_t count, int64_t /*index_size*/,
      absl::FunctionRef<void(const Band& band)> work) const {
    if (count > 0) work({0, 0, count});
  }
};

// Returns a backend of plain loops without workspaces. It is never destroyed.
const MathBackend& ReferenceMath();

}  // namespace footprint

// Tested by highway_backend_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_MATH_BACKEND_H_
