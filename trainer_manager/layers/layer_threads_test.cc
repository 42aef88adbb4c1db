// Compares what layers calculate on several threads with what they calculate on
// one, bit for bit.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "footprint/trainer_manager/layers/lora.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/rotary_positions.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Plain loops, but ForEachBand divides every loop, however short it is, and
// runs each band on a thread of its own.
class DividingMath final : public MathBackend {
 public:
  DividingMath(int threads, bool divides_products)
      : threads_(threads), divides_products_(divides_products) {}

  int64_t WorkspaceBytes(const MatrixProduct&) const override { return 0; }
  void Multiply(const MatrixProduct& product, const float* left,
                const float* right, float* result,
                void* workspace) const override {
    ReferenceMath().Multiply(product, left, right, result, workspace);
  }
  int64_t WorkspaceBytes(const Convolution&, ConvolutionStep) const override {
    return 0;
  }
  void ConvolutionForward(const Convolution& c, const float* input,
                          const float* weight, const float* bias, float* output,
                          void* workspace) const override {
    ReferenceMath().ConvolutionForward(c, input, weight, bias, output,
                                       workspace);
  }
  void ConvolutionGradient(const Convolution& c, const float* input,
                           const float* derivative, float* gradient,
                           void* workspace) const override {
    ReferenceMath().ConvolutionGradient(c, input, derivative, gradient,
                                        workspace);
  }
  void ConvolutionDerivative(const Convolution& c, const float* weight,
                             const float* derivative, float* result,
                             void* workspace) const override {
    ReferenceMath().ConvolutionDerivative(c, weight, derivative, result,
                                          workspace);
  }

  int threads() const override { return threads_; }
  bool Divides(const MatrixProduct&) const override {
    return divides_products_;
  }
  const MathBackend& OneThread() const override { return ReferenceMath(); }
  void ForEachBand(int64_t count, int64_t,
                   absl::FunctionRef<void(const Band&)> work) const override {
    const int64_t bands = std::min<int64_t>(threads_, count);
    std::vector<std::thread> threads;
    for (int t = 0; t < bands; ++t) {
      const Band band = {t, count * t / bands, count * (t + 1) / bands};
      threads.emplace_back([=] { work(band); });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  const int threads_;
  const bool divides_products_;
};

struct Case {
  std::string name;
  LayerPointer layer;
  std::vector<TensorType> inputs;
};

Convolution2dOptions Convolved() {
  Convolution2dOptions options;
  options.channels = 5;
  options.padding = 1;
  return options;
}

std::vector<Case> AllLayers() {
  const TensorType matrix = {{7, 11}};
  const TensorType images = {{3, 5, 7, 6}};
  const TensorType sequence = {{2, 9, 24}};
  SquaredErrorOptions squared;
  squared.ignored_label = 1;
  SoftmaxOptions softmax;
  softmax.label_smoothing = 0.1f;
  softmax.ignored_label = 1;
  return {
      {"ReLU", Relu(), {matrix}},
      {"sigmoid", Sigmoid(), {matrix}},
      {"tanh", Tanh(), {matrix}},
      {"GELU", Gelu(), {matrix}},
      {"SiLU", Silu(), {matrix}},
      {"dropout", Dropout(0.4f), {matrix}},
      {"attention", Attention({4}), {sequence}},
      {"causal attention", Attention({4, /*causal=*/true}), {sequence}},
      {"grouped attention", Attention({4, true, 2}), {sequence}},
      {"convolution", Convolution2d(Convolved()), {images}},
      {"fully connected", FullyConnected(13), {matrix}},
      {"fully connected, no bias", FullyConnected(13, false), {matrix}},
      {"LoRA", LoraFullyConnected(13, {{}}), {matrix}},
      {"squared error", MeanSquaredError(squared), {matrix}},
      {"softmax", SoftmaxCrossEntropy(softmax), {matrix}},
      {"batch normalization", BatchNormalization(), {images}},
      {"layer normalization", LayerNormalization(), {sequence}},
      {"RMS normalization", RmsNormalization(), {sequence}},
      {"max pool", MaxPool2d(2, 1), {images}},
      {"average pool", AveragePool2d(3, 2), {images}},
      {"global average pool", GlobalAveragePool2d(), {images}},
      {"rotary positions", RotaryPositions({4, 4, 10000}), {sequence}},
      {"add", Add(), {matrix, matrix}},
      {"multiply", Multiply(), {matrix, matrix}},
      {"concatenate", Concatenate(1), {matrix, matrix}},
      {"embedding", Embedding(3, 11), {{{7, 5}, DType::kI32}}},
      {"position embedding", PositionEmbedding(), {sequence}},
  };
}

// Expects that both hold the same bits.
void ExpectSameBits(const std::vector<float>& actual,
                    const std::vector<float>& expected,
                    const std::string& name) {
  ASSERT_EQ(actual.size(), expected.size()) << name;
  EXPECT_EQ(std::memcmp(actual.data(), expected.data(),
                        actual.size() * sizeof(float)),
            0)
      << name;
}

void ExpectBitsOfOneThread(const Case& each, NetworkMode mode, bool frozen,
                           const MathBackend& one, const MathBackend& several) {
  SCOPED_TRACE(each.name);
  LayerHarness expected(each.layer, each.inputs, mode, 1, 3, frozen, one);
  LayerHarness actual(each.layer, each.inputs, mode, 1, 3, frozen, several);
  const auto compare = [&](Role role, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const int index = static_cast<int>(i);
      ExpectSameBits(actual.Values(role, index), expected.Values(role, index),
                     std::string(RoleName(role)));
    }
  };
  const LayerSignature& signature = expected.signature();
  ASSERT_THAT(expected.Forward(), IsOk());
  ASSERT_THAT(actual.Forward(), IsOk());
  compare(Role::kOutput, 1);
  compare(Role::kSaved, signature.saved.size());
  compare(Role::kRunningStatistic, signature.statistics.size());
  if (mode == NetworkMode::kInference) return;
  if (!signature.recompute.reads.empty()) {
    std::vector<float>& output = actual.Values(Role::kOutput);
    std::fill(output.begin(), output.end(), std::nanf(""));
    ASSERT_THAT(actual.Recompute(), IsOk());
    compare(Role::kOutput, 1);
  }
  expected.Backward();
  actual.Backward();
  compare(Role::kGradient, signature.weights.size());
  if (!signature.derivative.writes.empty()) {
    compare(Role::kInputDerivative, each.inputs.size());
  }
  if (signature.restore_input.reads.empty()) return;
  expected.RestoreInput();
  actual.RestoreInput();
  compare(Role::kInput, each.inputs.size());
}

TEST(LayerThreadsTest, TrainingHasTheBitsOfOneThread) {
  for (const int threads : {2, 3, 5}) {
    for (const bool divides_products : {false, true}) {
      const DividingMath math(threads, divides_products);
      for (const Case& each : AllLayers()) {
        ExpectBitsOfOneThread(each, NetworkMode::kTraining, false,
                              ReferenceMath(), math);
      }
    }
  }
}

TEST(LayerThreadsTest, InferenceAndFrozenLayersHaveTheBitsOfOneThread) {
  const DividingMath math(3, false);
  for (const Case& each : AllLayers()) {
    ExpectBitsOfOneThread(each, NetworkMode::kInference, false, ReferenceMath(),
                          math);
    ExpectBitsOfOneThread(each, NetworkMode::kTraining, true, ReferenceMath(),
                          math);
  }
}

// The workspaces of products are real here, and loops are long enough that the
// backend divides them itself.
TEST(LayerThreadsTest, ATeamHasTheBitsOfOneThread) {
  const TensorType sequence = {{2, 72, 384}};
  const TensorType long_sequence = {{1, 160, 192}};
  const TensorType images = {{2, 12, 40, 40}};
  const std::vector<Case> layers = {
      {"attention, head by head", Attention({4}), {sequence}},
      {"grouped attention", Attention({4, true, 2}), {{{2, 72, 256}}}},
      {"attention, products divided", Attention({1, true}), {long_sequence}},
      {"GELU", Gelu(), {sequence}},
      {"layer normalization", LayerNormalization(), {sequence}},
      {"fully connected", FullyConnected(300), {sequence}},
      {"convolution", Convolution2d(Convolved()), {images}},
      {"batch normalization", BatchNormalization(), {images}},
      {"max pool", MaxPool2d(2), {images}},
  };
  for (const int threads : {2, 3}) {
    const auto team = MakeTeamBackend(threads);
    for (const Case& each : layers) {
      ExpectBitsOfOneThread(each, NetworkMode::kTraining, false,
                            HighwayBackend(), *team);
    }
  }
}

}  // namespace
}  // namespace footprint
