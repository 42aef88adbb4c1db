// Compares the bits of the backend's results with constants. Every machine and
// instruction set gives one of two results, with fused multiply-add or without,
// so x86-64 and aarch64 are compared although no machine runs both.

#include <cstdint>
#include <vector>

#include "footprint/base/files/fingerprint.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/trainer_manager/math/array_functions.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns numbers between -1 and 1 with all digits in use. They are quotients,
// which every machine rounds alike.
std::vector<float> Numbers(int64_t count, int64_t step) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>((i * step) % 2003 - 1001) / 1009.0f);
  }
  return numbers;
}

uint64_t HashBits(const std::vector<float>& numbers) {
  return Fingerprint(numbers.data(),
                     static_cast<int64_t>(numbers.size() * sizeof(float)));
}

// Memory at a cache line, like that of the arena.
class Workspace {
 public:
  explicit Workspace(int64_t bytes)
      : numbers_(static_cast<size_t>(bytes) / sizeof(float) + 32) {}
  void* data() {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(numbers_.data());
    return reinterpret_cast<void*>((begin + 63) / 64 * 64);
  }

 private:
  std::vector<float> numbers_;
};

TEST(SameBitsTest, Product) {
  const MathBackend& math = HighwayBackend();
  const MatrixProduct product = {/*rows=*/37, /*columns=*/70, /*inner=*/515};
  const std::vector<float> left = Numbers(37 * 515, 7919);
  const std::vector<float> right = Numbers(515 * 70, 104729);
  ForEachVectorTarget([&](bool fused) {
    Workspace workspace(math.WorkspaceBytes(product));
    std::vector<float> result(37 * 70);
    math.Multiply(product, left.data(), right.data(), result.data(),
                  workspace.data());
    EXPECT_EQ(HashBits(result),
              fused ? 8773924642987576877u : 5096338823918032128u);
  });
}

TEST(SameBitsTest, Convolution) {
  const MathBackend& math = HighwayBackend();
  Convolution convolution;
  convolution.batch = 3;
  convolution.input_channels = 5;
  convolution.input_height = convolution.output_height = 17;
  convolution.input_width = convolution.output_width = 19;
  convolution.output_channels = 7;
  convolution.kernel = 3;
  convolution.padding = 1;
  const std::vector<float> input = Numbers(3 * 5 * 17 * 19, 7919);
  const std::vector<float> weight = Numbers(7 * 5 * 9, 104729);
  const std::vector<float> derivative = Numbers(3 * 7 * 17 * 19, 31);
  ForEachVectorTarget([&](bool fused) {
    std::vector<float> output(3 * 7 * 17 * 19);
    Workspace forward(
        math.WorkspaceBytes(convolution, ConvolutionStep::kForward));
    math.ConvolutionForward(convolution, input.data(), weight.data(), nullptr,
                            output.data(), forward.data());
    EXPECT_EQ(HashBits(output),
              fused ? 733728683627633048u : 1313613798119505362u);
    std::vector<float> gradient(weight.size());
    Workspace backward(
        math.WorkspaceBytes(convolution, ConvolutionStep::kGradient));
    math.ConvolutionGradient(convolution, input.data(), derivative.data(),
                             gradient.data(), backward.data());
    EXPECT_EQ(HashBits(gradient),
              fused ? 11921617877253929489u : 3143247304389077578u);
  });
}

TEST(SameBitsTest, FunctionsOfArrays) {
  const std::vector<float> values = Numbers(1001, 7919);
  ForEachVectorTarget([&](bool fused) {
    std::vector<float> results(5 * 1001);
    ComputeGelu(values.data(), 1001, results.data());
    ComputeTanh(values.data(), 1001, results.data() + 1001);
    ComputeSigmoid(values.data(), 1001, results.data() + 2002);
    ExpDifferences(values.data(), 1001, /*subtrahend=*/3.0f,
                   results.data() + 3003);
    results[4004] = DotProduct(values.data(), values.data(), 1001);
    EXPECT_EQ(HashBits(results),
              fused ? 3535810656725668892u : 10643817159563573492u);
  });
}

}  // namespace
}  // namespace footprint
