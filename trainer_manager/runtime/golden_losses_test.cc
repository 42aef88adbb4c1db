// Compares the losses of whole trainings with PyTorch's for the same networks,
// weights and data. testdata/make_golden_losses.py draws the same numbers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_plan.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/parameter_group.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Values = std::vector<float>;

class Draws {
 public:
  uint64_t Below(uint64_t limit) { return random_.Below(limit); }
  Values From(size_t count, float scale) {
    Values values(count);
    for (float& v : values) {
      v = (static_cast<float>(Below(2001)) / 1000.0f - 1.0f) * scale;
    }
    return values;
  }

 private:
  RandomSequence random_{7};
};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void SetWeights(const Parameters& parameters, Draws* draws) {
  for (const Parameters::Parameter& p : parameters.all()) {
    const std::string name(p.name);
    if (EndsWith(name, ".mean") || EndsWith(name, ".variance")) continue;
    const bool is_scale = EndsWith(name, ".scale");
    float scale = 0.1f;
    if (EndsWith(name, ".weight")) {
      // The fan-in of a convolution [outputs, inputs, ...], else of [inputs,
      // outputs].
      const int64_t fan_in = p.shape.rank() == 4
                                 ? p.shape.elements() / p.shape.extent(0)
                                 : p.shape.extent(0);
      scale = static_cast<float>(std::pow(static_cast<double>(fan_in), -0.5));
    }
    const Values drawn = draws->From(p.values.size(), scale);
    for (size_t i = 0; i < drawn.size(); ++i) {
      p.values[i] = is_scale ? 1.0f + drawn[i] : drawn[i];
    }
  }
}

struct Batch {
  Values inputs;
  Values targets;
  std::vector<int32_t> classes;
};

// Makes rows labelled by the mean of four features, or images of ten noisy
// patterns.
Batch MakeBatch(size_t rows, size_t count, const std::vector<Values>& patterns,
                Draws* draws) {
  Batch batch;
  if (patterns.empty()) {
    batch.inputs = draws->From(rows * count, 1.0f);
    for (size_t r = 0; r < rows; ++r) {
      const float* row = &batch.inputs[r * count];
      batch.targets.push_back(((row[0] + row[1]) + (row[2] + row[3])) / 4.0f);
    }
    return batch;
  }
  for (size_t r = 0; r < rows; ++r) {
    const uint64_t label = draws->Below(10);
    const Values noise = draws->From(count, 0.5f);
    for (size_t i = 0; i < count; ++i) {
      batch.inputs.push_back(patterns[label][i] + noise[i]);
    }
    batch.classes.push_back(static_cast<int32_t>(label));
  }
  return batch;
}

LayerPointer Filters(int64_t channels) {
  Convolution2dOptions options;
  options.channels = channels;
  options.padding = 1;
  options.bias = false;
  return Convolution2d(options);
}

Network Normalized(int64_t batch) {
  Network network;
  network.AddInput("image", {{batch, 3, 12, 12}});
  network.AddLayer("conv1", Filters(8), {"image"});
  network.AddLayer("bn1", BatchNormalization(), {"conv1"});
  network.AddLayer("relu1", Relu(), {"bn1"});
  network.AddLayer("pool1", MaxPool2d(2), {"relu1"});
  network.AddLayer("conv2", Filters(16), {"pool1"});
  network.AddLayer("bn2", BatchNormalization(), {"conv2"});
  network.AddLayer("relu2", Relu(), {"bn2"});
  network.AddLayer("pool2", AveragePool2d(2), {"relu2"});
  network.AddLayer("flatten", Flatten(), {"pool2"});
  network.AddLayer("fc", FullyConnected(10), {"flatten"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"fc"});
  return network;
}

std::map<std::string, std::vector<double>> GoldenLosses() {
  std::map<std::string, std::vector<double>> golden;
  std::ifstream file("trainer_manager/runtime/testdata/golden_losses.txt");
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    double loss = 0;
    while (words >> loss) golden[name].push_back(loss);
  }
  return golden;
}

struct Training {
  std::string name;
  Network network;
  OptimizerPointer optimizer;
  size_t rows;
  size_t count;
  bool images;
  double worst_error;  // relative
  std::vector<ParameterGroup> groups = {};
};

// Sets the statistics of a frozen normalization as if from an earlier training.
void SetFrozenStatistics(const ExecutionPlan& plan,
                         const Parameters& parameters) {
  for (const ResolvedNetwork::ResolvedLayer& layer : plan.network->layers) {
    if (!layer.is_frozen || layer.signature.statistics.empty()) continue;
    const auto mean = parameters.Find(layer.name + ".mean");
    const auto variance = parameters.Find(layer.name + ".variance");
    ASSERT_THAT(mean, IsOk());
    ASSERT_THAT(variance, IsOk());
    for (size_t c = 0; c < mean->size(); ++c) {
      (*mean)[c] = static_cast<float>(c) * 0.0625f - 0.25f;
      (*variance)[c] = static_cast<float>(c) * 0.125f + 0.5f;
    }
  }
}

ParameterGroup Frozen(const std::string& pattern) {
  ParameterGroup group;
  group.pattern = pattern;
  group.frozen = true;
  return group;
}

// The last layer learns half as fast, and its weights do not decay.
ParameterGroup SlowHead() {
  ParameterGroup group;
  group.pattern = "fc.*";
  group.rate_factor = 0.5f;
  group.weight_decay = 0.0f;
  return group;
}

void ExpectGolden(const Training& training, const MathBackend& math,
                  const std::vector<double>& golden) {
  ASSERT_EQ(golden.size(), 200u) << training.name;
  Network network = training.network;
  for (const ParameterGroup& group : training.groups) network.AddGroup(group);
  const auto plan =
      PlanExecution(network, NetworkMode::kTraining, MemoryOptions(),
                    training.optimizer->states_per_weight(), math);
  ASSERT_THAT(plan, IsOk());
  const auto parameters = Parameters::Create(*plan, 1);
  ASSERT_THAT(parameters, IsOk());
  Draws draws;
  SetWeights(**parameters, &draws);
  SetFrozenStatistics(*plan, **parameters);
  std::vector<Values> patterns;
  while (training.images && patterns.size() < 10) {
    patterns.push_back(draws.From(training.count, 0.5f));
  }
  ManagerOptions options;
  options.optimizer = training.optimizer;
  const auto manager = Manager::Create(*plan, *parameters, options);
  ASSERT_THAT(manager, IsOk());
  double worst = 0;
  for (const double expected : golden) {
    const Batch batch =
        MakeBatch(training.rows, training.count, patterns, &draws);
    ASSERT_THAT((*manager)->SetInput(0, batch.inputs), IsOk());
    ASSERT_THAT((training.images ? (*manager)->SetLabel(batch.classes)
                                 : (*manager)->SetLabel(batch.targets)),
                IsOk());
    const auto loss = (*manager)->TrainStep();
    ASSERT_THAT(loss, IsOk());
    worst = std::max(worst, std::fabs(*loss - expected) / expected);
  }
  std::cout << training.name << ": within " << worst << "\n";
  EXPECT_LE(worst, training.worst_error) << training.name;
}

void ExpectAllGolden(const MathBackend& math) {
  const auto golden = GoldenLosses();
  for (const Training& training :
       {Training{"mlp_sgd", TabularMlp(32), StochasticGradientDescent(0.05f),
                 32, 13, false, 1e-5},
        Training{"mlp_adam", TabularMlp(32), Adam(0.001f), 32, 13, false, 1e-5},
        Training{"mlp_adamw_warm_cosine", TabularMlp(32),
                 AdamW(AfterWarmUp(20, CosineRate(0.004f, 0.0001f, 150)), 0.1f),
                 32, 13, false, 3e-5},
        Training{"lenet5_sgd", LeNet5(8), StochasticGradientDescent(0.2f), 8,
                 784, true, 1e-5},
        Training{"normalized_momentum", Normalized(8), Momentum(0.01f, 0.9f), 8,
                 432, true, 1e-4},
        Training{"frozen_front",
                 Normalized(8),
                 Momentum(0.01f, 0.9f),
                 8,
                 432,
                 true,
                 1e-4,
                 {Frozen("conv1.*"), Frozen("bn1.*")}},
        Training{"frozen_middle",
                 Normalized(8),
                 AdamW(AfterWarmUp(20, CosineRate(0.004f, 0.0001f, 150)), 0.1f),
                 8,
                 432,
                 true,
                 1e-4,
                 {Frozen("conv2.*"), Frozen("bn2.*"), SlowHead()}}}) {
    const auto losses = golden.find(training.name);
    ASSERT_NE(losses, golden.end()) << training.name;
    ExpectGolden(training, math, losses->second);
  }
}

TEST(GoldenLossesTest, HighwayBackendTrainsAsPyTorchDoes) {
  ExpectAllGolden(HighwayBackend());
}

TEST(GoldenLossesTest, ReferenceMathTrainsAsPyTorchDoes) {
  ExpectAllGolden(ReferenceMath());
}

}  // namespace
}  // namespace footprint
