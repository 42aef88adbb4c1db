#include "footprint/trainer_manager/parameters/parameter_map.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/base/safetensors/safetensors_writer.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct StateTensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

// The names and layouts are those that `safetensors.torch.save_model` writes
// for a module of conv = Conv2d(1, 2, 1), bn = BatchNorm2d(2), fc = Linear(4,
// 3), ln = LayerNorm(3).
std::vector<StateTensor> StateDict() {
  return {{"conv.weight", {2, 1, 1, 1}, {2, -1}},
          {"conv.bias", {2}, {0.5f, 0.25f}},
          {"bn.weight", {2}, {1.5f, -2}},
          {"bn.bias", {2}, {0.125f, 1}},
          {"bn.running_mean", {2}, {0.5f, -0.5f}},
          {"bn.running_var", {2}, {4, 0.25f}},
          {"fc.weight", {3, 4}, {1, 2, 3, 4, -1, -2, 0, 2, 0.5f, 0, 1, -3}},
          {"fc.bias", {3}, {0.1f, 0.2f, 0.3f}},
          {"ln.weight", {3}, {1, 2, 3}},
          {"ln.bias", {3}, {-1, 0, 1}}};
}

std::string Write(const std::string& name,
                  const std::vector<StateTensor>& tensors) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::vector<TensorSpec> specs;
  for (const StateTensor& tensor : tensors) {
    specs.push_back({tensor.name, DType::kF32, tensor.shape});
  }
  specs.push_back({"bn.num_batches_tracked", DType::kI64, {}});
  auto writer = SafetensorsWriter::Create(path, specs);
  EXPECT_THAT(writer, IsOk());
  for (const StateTensor& tensor : tensors) {
    EXPECT_THAT(writer->Append(tensor.values.data(),
                               static_cast<int64_t>(tensor.values.size() * 4)),
                IsOk());
  }
  const int64_t batches = 7;
  EXPECT_THAT(writer->Append(&batches, sizeof(batches)), IsOk());
  EXPECT_THAT(writer->Finish(), IsOk());
  return path;
}

// Returns the same module as a network.
Network Module() {
  Network network;
  network.AddInput("x", {{1, 1, 1, 2}});
  Convolution2dOptions filters;
  filters.channels = 2;
  filters.kernel = 1;
  network.AddLayer("conv", Convolution2d(filters), {"x"});
  network.AddLayer("bn", BatchNormalization(), {"conv"});
  network.AddLayer("flat", Flatten(), {"bn"});
  network.AddLayer("fc", FullyConnected(3), {"flat"});
  network.AddLayer("ln", LayerNormalization(), {"fc"});
  return network;
}

// Returns PyTorch's output for x = (1, -2), by its formulas, in double
// precision.
std::vector<double> Expected() {
  const double x[2] = {1, -2};
  const double conv[2][2] = {{2, 0.5}, {-1, 0.25}};
  const double bn[2][4] = {{1.5, 0.125, 0.5, 4}, {-2, 1, -0.5, 0.25}};
  double flat[4];
  for (int c = 0; c < 2; ++c) {
    for (int i = 0; i < 2; ++i) {
      const double y = conv[c][0] * x[i] + conv[c][1];
      flat[c * 2 + i] =
          (y - bn[c][2]) / std::sqrt(bn[c][3] + 1e-5) * bn[c][0] + bn[c][1];
    }
  }
  const double weight[3][4] = {{1, 2, 3, 4}, {-1, -2, 0, 2}, {0.5, 0, 1, -3}};
  std::vector<double> y = {0.1, 0.2, 0.3};
  double mean = 0;
  for (size_t u = 0; u < 3; ++u) {
    for (int i = 0; i < 4; ++i) y[u] += weight[u][i] * flat[i];
    mean += y[u] / 3;
  }
  double variance = 0;
  for (const double value : y) variance += (value - mean) * (value - mean) / 3;
  for (size_t u = 0; u < 3; ++u) {
    const double normal = (y[u] - mean) / std::sqrt(variance + 1e-5);
    y[u] = normal * static_cast<double>(u + 1) + static_cast<double>(u) - 1;
  }
  return y;
}

absl::Status Load(const std::string& path, const ExecutionPlan& plan,
                  Parameters* parameters) {
  // region pytorch
  footprint::ParameterMap map = footprint::PyTorchMap(plan);
  return footprint::LoadParameters(path, map, parameters);
  // endregion
}

TEST(ParameterMapTest, APyTorchStateDictInfersTheSame) {
  const auto plan = PlanExecution(Module(), NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  const auto parameters = *Parameters::Create(*plan, 1);
  const absl::Status status =
      Load(Write("state.safetensors", StateDict()), *plan, parameters.get());
  ASSERT_THAT(status, IsOk());
  const absl::Span<float> weight = *parameters->Find("fc.weight");
  EXPECT_EQ(weight[1], -1);  // [4, 3] here
  const auto manager = *Manager::Create(*plan, parameters, {});
  const std::vector<float> x = {1, -2};
  ASSERT_THAT(manager->Infer({absl::MakeConstSpan(x)}), IsOk());
  const auto output = *manager->Output();
  const std::vector<double> expected = Expected();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(output[i], expected[i], 1e-5) << i;
  }
}

// The rows of the second matrix are longer than a buffer.
TEST(ParameterMapTest, AMatrixOfManyBuffersIsTransposed) {
  constexpr int64_t kShapes[][2] = {{211, 301}, {3, 20'000}};
  for (const auto& [units, inputs] : kShapes) {
    Network network;
    network.AddInput("x", {{1, inputs}});
    network.AddLayer("fc", FullyConnected(units), {"x"});
    const auto plan = PlanExecution(network, NetworkMode::kInference, {});
    const auto parameters = *Parameters::Create(*plan, 1);
    const auto rows = static_cast<size_t>(units);
    const auto columns = static_cast<size_t>(inputs);
    std::vector<float> values(rows * columns);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
    }
    const absl::Status status =
        Load(Write("large.safetensors",
                   {{"fc.weight", {units, inputs}, values},
                    {"fc.bias", {units}, std::vector<float>(rows, 1.0f)}}),
             *plan, parameters.get());
    ASSERT_THAT(status, IsOk());
    const absl::Span<float> weight = *parameters->Find("fc.weight");
    for (size_t out = 0; out < rows; ++out) {
      for (size_t in = 0; in < columns; ++in) {
        ASSERT_EQ(weight[in * rows + out], values[out * columns + in]);
      }
    }
  }
}

// As in torch.nn.RMSNorm and in the models of transformers.
TEST(ParameterMapTest, TheScaleOfAnRmsNormalizationIsItsWeight) {
  Network network;
  network.AddInput("x", {{1, 3}});
  network.AddLayer("norm", RmsNormalization(), {"x"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  const auto parameters = *Parameters::Create(*plan, 1);
  EXPECT_THAT(LoadParameters(
                  Write("rms.safetensors", {{"norm.weight", {3}, {1, 2, -3}}}),
                  PyTorchMap(*plan), parameters.get()),
              IsOk());
  EXPECT_THAT(*parameters->Find("norm.scale"), ElementsAre(1, 2, -3));
}

TEST(ParameterMapTest, NamesCanBeGiven) {
  const auto plan = PlanExecution(Module(), NetworkMode::kInference, {});
  const auto parameters = *Parameters::Create(*plan, 1);
  std::vector<StateTensor> state = StateDict();
  for (StateTensor& tensor : state) tensor.name = "model." + tensor.name;
  const std::string path = Write("prefix.safetensors", state);
  ParameterMap map = PyTorchMap(*plan);
  for (auto& [name, tensor] : map.tensors) tensor.name = "model." + tensor.name;
  const absl::Status status = LoadParameters(path, map, parameters.get());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ((*parameters->Find("bn.variance"))[1], 0.25f);
}

TEST(ParameterMapTest, WhatDoesNotFitIsNamedAndChangesNothing) {
  const auto plan = PlanExecution(Module(), NetworkMode::kInference, {});
  const auto parameters = *Parameters::Create(*plan, 1);
  const std::string path = Write("strict.safetensors", StateDict());
  const float before = (*parameters->Find("fc.weight"))[1];
  const auto why = [&](const ParameterMap& map) {
    const absl::Status status = LoadParameters(path, map, parameters.get());
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ((*parameters->Find("fc.weight"))[1], before);
    return std::string(status.message());
  };
  const ParameterMap map = PyTorchMap(*plan);
  ParameterMap other = map;
  other.tensors["fc.weight"].transposed = false;
  EXPECT_THAT(why(other),
              HasSubstr("tensor \"fc.weight\" is F32 [3, 4], but the model has "
                        "F32 [4, 3]; transposed it would fit"));
  other = map;
  other.tensors["conv.weight"].transposed = true;
  EXPECT_THAT(why(other), HasSubstr("only a matrix can be transposed"));
  other = map;
  other.tensors["fc.wieght"].name = "fc.weight";
  EXPECT_THAT(why(other),
              HasSubstr("the map names \"fc.wieght\", which is not a "
                        "parameter of the model"));
  other = map;
  other.ignored_endings.clear();
  EXPECT_THAT(why(other), HasSubstr("\"bn.num_batches_tracked\" is no"));
  other = map;
  other.tensors["bn.mean"].name = "bn.mean";
  EXPECT_THAT(why(other), HasSubstr("bn.mean"));
}

}  // namespace
}  // namespace footprint
