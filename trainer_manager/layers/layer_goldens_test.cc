// Compares outputs, gradients and derivatives of layers with PyTorch's.
// testdata/make_layer_goldens.py uses the same numbers.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/attention.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/rotary_positions.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Tensors = std::map<std::string, std::vector<float>>;  // by name

std::map<std::string, Tensors> ReadGoldens() {
  std::map<std::string, Tensors> goldens;
  std::ifstream file("trainer_manager/layers/testdata/layer_goldens.txt");
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string layer;
    std::string tensor;
    words >> layer >> tensor;
    float value = 0;
    while (words >> value) goldens[layer][tensor].push_back(value);
  }
  return goldens;
}

// Sets numbers that a float holds exactly.
void SetNumbers(int salt, std::vector<float>* values) {
  for (size_t i = 0; i < values->size(); ++i) {
    const int drawn = (static_cast<int>(i) * 37 + salt * 11) % 41 - 20;
    (*values)[i] = static_cast<float>(drawn) / 16;
  }
}

Convolution2dOptions Grouped(int64_t channels, int64_t stride, int64_t groups) {
  Convolution2dOptions options;
  options.channels = channels;
  options.stride = stride;
  options.padding = 1;
  options.groups = groups;
  return options;
}

void ExpectGolden(const LayerPointer& layer,
                  const std::vector<TensorType>& inputs,
                  const Tensors& golden) {
  LayerHarness harness(layer, inputs);
  const int input_count = static_cast<int>(inputs.size());
  const int weight_count = static_cast<int>(harness.signature().weights.size());
  for (int i = 0; i < input_count; ++i) {
    SetNumbers(i, &harness.Values(Role::kInput, i));
  }
  for (int i = 0; i < weight_count; ++i) {
    SetNumbers(10 + i, &harness.Values(Role::kWeight, i));
  }
  SetNumbers(20, &harness.Values(Role::kOutputDerivative));
  ASSERT_THAT(harness.Forward(), IsOk());
  harness.Backward();
  const auto expect = [&](const std::string& name, Role role, int index) {
    const auto found = golden.find(name);
    ASSERT_NE(found, golden.end()) << name;
    EXPECT_THAT(harness.Values(role, index),
                testing::Pointwise(testing::FloatNear(1e-5f), found->second))
        << name;
  };
  expect("output", Role::kOutput, 0);
  for (int i = 0; i < input_count; ++i) {
    expect(absl::StrCat("derivative", i), Role::kInputDerivative, i);
  }
  for (int i = 0; i < weight_count; ++i) {
    expect(absl::StrCat("gradient", i), Role::kGradient, i);
  }
  EXPECT_EQ(golden.size(), static_cast<size_t>(1 + input_count + weight_count));
}

TEST(LayerGoldensTest, LayersCalculateWhatThoseOfPyTorchDo) {
  const auto goldens = ReadGoldens();
  const struct {
    std::string name;
    LayerPointer layer;
    std::vector<TensorType> inputs;
  } layers[] = {
      {"silu", Silu(), {{{3, 7}}}},
      {"rms_normalization", RmsNormalization(), {{{4, 6}}}},
      {"global_average_pool", GlobalAveragePool2d(), {{{2, 3, 4, 5}}}},
      {"multiply", Multiply(), {{{3, 7}}, {{3, 7}}}},
      {"rotary_positions", RotaryPositions({2, 4, 500}), {{{2, 5, 11}}}},
      {"grouped_attention", Attention({4, /*causal=*/true, 2}), {{{2, 5, 24}}}},
      {"concatenate", Concatenate(), {{{2, 3, 2, 2}}, {{2, 2, 2, 2}}}},
      {"grouped_convolution",
       Convolution2d(Grouped(6, 2, 2)),
       {{{2, 4, 6, 5}}}},
      {"depthwise_convolution",
       Convolution2d(Grouped(4, 1, 4)),
       {{{2, 4, 6, 5}}}},
  };
  EXPECT_EQ(goldens.size(), 9u);
  for (const auto& each : layers) {
    SCOPED_TRACE(each.name);
    const auto golden = goldens.find(each.name);
    ASSERT_NE(golden, goldens.end());
    ExpectGolden(each.layer, each.inputs, golden->second);
  }
}

}  // namespace
}  // namespace footprint
