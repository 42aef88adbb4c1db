// Matrix products and convolutions behind one interface, so that tests can
// compare a library with plain loops.
//
//   const footprint::MathBackend& math = footprint::ReferenceMath();
//   math.Multiply({rows, columns, inner}, left, right, result, workspace);
//
// All matrices are dense, row by row. A backend keeps nothing and allocates
// nothing: the caller plans a workspace of the size that the backend names. If
// that size is 0, the product ignores the workspace that it gets. The order of
// summation depends only on the sizes, so results repeat bit for bit. A row of
// a product, or an image of a convolution, has the same bits whatever the
// number of rows or images, so a batch may be calculated in slices.
// Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_MATH_BACKEND_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_MATH_BACKEND_H_

#include <cstdint>

namespace footprint {

// A product result[rows, columns] = left[rows, inner] * right[inner, columns].
// A transposed operand is stored as its transpose.
struct MatrixProduct {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t inner = 0;
  bool transpose_left = false;
  bool transpose_right = false;
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

class MathBackend {
 public:
  virtual ~MathBackend() = default;

  // Returns the bytes of the workspace that Multiply needs, at any alignment.
  virtual int64_t WorkspaceBytes(const MatrixProduct& product) const = 0;
  // Overwrites `result`, which must not overlap the operands.
  virtual void Multiply(const MatrixProduct& product, const float* left,
                        const float* right, float* result,
                        void* workspace) const = 0;

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
};

// Returns a backend of plain loops without workspaces. It is never destroyed.
const MathBackend& ReferenceMath();

}  // namespace footprint

// Tested by highway_backend_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_MATH_BACKEND_H_
