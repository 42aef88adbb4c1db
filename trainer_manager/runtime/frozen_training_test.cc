// Tests trainings in which a part is frozen. They have the bits of a training
// whose optimizer leaves that part alone, and take less memory.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/random/property_seeds.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_plan.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/option_subset.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/execution/weight_reads.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/parameter_group.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

// An optimizer that descends, but leaves weights of a group with a rate factor
// of 0.5 unchanged.
class Selective final : public Optimizer {
 public:
  explicit Selective(float rate = 0.002f) : rate_(rate) {}
  int states_per_weight() const override { return 0; }
  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const>) const override {
    if (rate_ == 0) return;
    for (int64_t i = 0; i < elements; ++i) weight[i] -= rate_ * gradient[i];
  }
  OptimizerPointer ForGroup(float rate_factor,
                            absl::optional<float>) const override {
    return std::make_shared<Selective>(rate_factor == 0.5f ? 0.0f : rate_);
  }

 private:
  const float rate_;
};

Network WithGroups(Network network, const std::vector<std::string>& layers,
                   bool frozen) {
  for (const std::string& layer : layers) {
    ParameterGroup group;
    group.pattern = absl::StrCat(layer, ".*");
    group.frozen = frozen;
    if (!frozen) group.rate_factor = 0.5f;
    network.AddGroup(group);
  }
  return network;
}

// Draws about half, but never all, of the layers that have their own weights
// and no running statistics. A frozen batch normalization computes something
// else than a trained one.
std::vector<std::string> DrawLayers(const Network& network,
                                    RandomSequence* random) {
  const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
  EXPECT_THAT(resolved, IsOk());
  std::vector<std::string> drawn;
  size_t trained = 0;
  for (size_t l = 0; l < resolved->layers.size(); ++l) {
    const ResolvedNetwork::ResolvedLayer& layer = resolved->layers[l];
    if (layer.signature.weights.empty() || layer.weights_of != l) continue;
    if (layer.signature.statistics.empty() && random->Below(2) == 0) {
      drawn.push_back(layer.name);
    } else {
      ++trained;
    }
  }
  if (trained == 0) drawn.pop_back();
  return drawn;
}

void FillBatch(const ExecutionPlan& plan, RandomSequence* random,
               Manager* manager) {
  const auto fill = [&](auto floats, auto indices) {
    if (floats.ok()) {
      for (float& value : *floats) value = random->SignedUnit();
    }
    if (indices.ok()) {
      for (int32_t& value : *indices) {
        value = static_cast<int32_t>(random->Below(kTokens));
      }
    }
  };
  for (size_t i = 0; i < plan.input_tensors.size(); ++i) {
    fill(manager->InputValues(i), manager->InputValues<int32_t>(i));
  }
  fill(manager->LabelValues(), manager->LabelValues<int32_t>());
}

using Values = std::map<std::string, std::vector<float>>;

// Returns all parameters by name, and the losses as "losses".
Values TrainedValues(const ExecutionPlan& plan, bool poison,
                     const std::string& weights_file = "") {
  ManagerOptions options;
  options.weights_file = weights_file;
  options.optimizer = std::make_shared<Selective>();
  options.poison = poison;
  const auto parameters = Parameters::Create(plan, 11);
  auto manager = Manager::Create(plan, *parameters, options);
  EXPECT_THAT(manager, IsOk());
  RandomSequence random(5);
  Values values;
  for (int i = 0; i < 4; ++i) {
    FillBatch(plan, &random, manager->get());
    const auto loss = (*manager)->TrainStep();
    EXPECT_THAT(loss, IsOk());
    values["losses"].push_back(loss.value_or(-1));
  }
  for (const Parameters::Parameter& parameter : (*parameters)->all()) {
    values[std::string(parameter.name)].assign(parameter.values.begin(),
                                               parameter.values.end());
  }
  return values;
}

TEST(FrozenTrainingTest, HasTheBitsOfATrainingThatLeavesTheWeightsAlone) {
  RandomSequence random(1);
  int smaller = 0;
  for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    SCOPED_TRACE(seed);
    const Network network = RandomNetwork(seed);
    const std::vector<std::string> layers = DrawLayers(network, &random);
    if (layers.empty()) continue;
    const MemoryOptions options =
        seed % 4 == 0
            ? OptionSubset(static_cast<unsigned>(random.Below(kOptionSubsets)))
            : MemoryOptions();
    const auto alone = PlanExecution(WithGroups(network, layers, false),
                                     NetworkMode::kTraining, options);
    const auto frozen = PlanExecution(WithGroups(network, layers, true),
                                      NetworkMode::kTraining, options);
    ASSERT_THAT(alone, IsOk());
    ASSERT_THAT(frozen, IsOk());
    EXPECT_LE(frozen->planned_bytes(), alone->planned_bytes());
    if (frozen->planned_bytes() < alone->planned_bytes()) ++smaller;
    EXPECT_LT(frozen->steps.size(), alone->steps.size());
    EXPECT_EQ(TrainedValues(*frozen, seed % 2 == 0),
              TrainedValues(*alone, false));
  }
  EXPECT_GT(smaller, 0);
}

TEST(FrozenTrainingTest, OtherPlansHaveTheSameBits) {
  RandomSequence random(9);
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Network drawn = RandomImageNetwork(seed);
    const std::vector<std::string> layers = DrawLayers(drawn, &random);
    if (layers.empty()) continue;
    const Network frozen = WithGroups(drawn, layers, true);
    const auto best = PlanExecution(frozen, NetworkMode::kTraining, {});
    ASSERT_THAT(best, IsOk());
    MemoryOptions budget;
    budget.budget_bytes = best->planned_bytes() * 9 / 10;
    const auto less = PlanExecution(frozen, NetworkMode::kTraining, budget);
    const Values expected = TrainedValues(*best, false);
    if (less.ok()) {
      EXPECT_EQ(TrainedValues(*less, true), expected);
    }
    const auto debug =
        PlanExecution(frozen, NetworkMode::kTraining, MemoryOptions::Debug());
    ASSERT_THAT(debug, IsOk());
    EXPECT_EQ(TrainedValues(*debug, false), expected);
    MemoryOptions atomic;
    atomic.atomic_steps = true;
    const auto all = PlanExecution(frozen, NetworkMode::kTraining, atomic);
    ASSERT_THAT(all, IsOk());
    EXPECT_EQ(TrainedValues(*all, true), expected);
  }
}

// Writes the parameters that TrainedValues begins with.
std::string SaveBase(const ExecutionPlan& plan) {
  const std::string path = TestPath("base.safetensors");
  EXPECT_THAT(SaveParameters(**Parameters::Create(plan, 11), path), IsOk());
  return path;
}

TEST(FrozenTrainingTest, WeightsFromTheirFileGiveTheSameBits) {
  RandomSequence random(3);
  int smaller = 0;
  for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    SCOPED_TRACE(seed);
    const Network drawn = RandomNetwork(seed);
    const std::vector<std::string> layers = DrawLayers(drawn, &random);
    if (layers.empty()) continue;
    const Network network = WithGroups(drawn, layers, true);
    MemoryOptions options;
    if (seed % 3 == 0) {
      options =
          OptionSubset(static_cast<unsigned>(random.Below(kOptionSubsets)));
    }
    const auto resident =
        PlanExecution(network, NetworkMode::kTraining, options);
    ASSERT_THAT(resident, IsOk());
    options.read_frozen_weights = true;
    if (seed % 3 == 1) options.budget_bytes = resident->planned_bytes() * 9 / 8;
    const auto read = PlanExecution(network, NetworkMode::kTraining, options);
    ASSERT_THAT(read, IsOk());
    EXPECT_GT(read->weight_bytes_read_per_iteration(), 0);
    EXPECT_LT(read->model_bytes, resident->model_bytes);
    if (read->planned_bytes() < resident->planned_bytes()) ++smaller;
    Values expected = TrainedValues(*resident, false);
    const Values values =
        TrainedValues(*read, seed % 2 == 0, SaveBase(*resident));
    for (const std::string& layer : layers) {
      const auto first = expected.lower_bound(absl::StrCat(layer, "."));
      const auto end = expected.lower_bound(absl::StrCat(layer, "/"));
      EXPECT_NE(first, end);
      expected.erase(first, end);
    }
    EXPECT_EQ(values, expected);
  }
  EXPECT_GT(smaller, 0);
}

// Plans the network with weights from their file in the least budget, or in
// one between that and the planned bytes without a budget.
ExecutionPlan PlanInFewBytes(const Network& network, MemoryOptions options,
                             bool in_least) {
  options.read_frozen_weights = true;
  const auto plan = [&] {
    return PlanExecution(network, NetworkMode::kTraining, options, 0,
                         ReferenceMath());
  };
  const int64_t most = plan()->planned_bytes();
  options.budget_bytes = 1;
  const int64_t least = LeastBudgetNamed(plan().status());
  EXPECT_GT(least, 1);
  EXPECT_LE(least, most);
  options.budget_bytes = in_least ? least : least + (most - least) / 2;
  const auto planned = plan();
  EXPECT_THAT(planned, IsOk());
  EXPECT_LE(planned->planned_bytes(), options.budget_bytes);
  return *planned;
}

int CountTiledSteps(const ExecutionPlan& plan) {
  return static_cast<int>(std::count_if(
      plan.steps.begin(), plan.steps.end(), [&plan](const PlannedStep& step) {
        return step.kind != StepKind::kReadWeights &&
               TileColumns(plan, step) > 0;
      }));
}

// Plain loops may sum any number of columns, so even small matrices have tiles.
TEST(FrozenTrainingTest, TilesOfWeightsFromTheirFileGiveTheSameBits) {
  RandomSequence random(4);
  int tiled_steps = 0;
  // A search for the least budget takes a third of a second.
  for (uint32_t seed = 1; seed <= PropertySeedCount() / 4; ++seed) {
    SCOPED_TRACE(seed);
    const Network drawn = RandomNetwork(seed);
    const std::vector<std::string> layers = DrawLayers(drawn, &random);
    if (layers.empty()) continue;
    const Network network = WithGroups(drawn, layers, true);
    MemoryOptions options;
    if (seed % 3 == 0) {
      options =
          OptionSubset(static_cast<unsigned>(random.Below(kOptionSubsets)));
    }
    const auto resident = PlanExecution(network, NetworkMode::kTraining,
                                        options, 0, ReferenceMath());
    ASSERT_THAT(resident, IsOk());
    const ExecutionPlan read =
        PlanInFewBytes(network, options, /*in_least=*/seed % 2 == 0);
    tiled_steps += CountTiledSteps(read);
    EXPECT_LE(LeastWeightBytesRead(read),
              read.weight_bytes_read_per_iteration());
    const Values expected = TrainedValues(*resident, false);
    for (const auto& [name, values] :
         TrainedValues(read, /*poison=*/true, SaveBase(*resident))) {
      EXPECT_EQ(values, expected.at(name)) << name;
    }
  }
  EXPECT_GT(tiled_steps, 0);
}

// A frozen matrix of 2 MiB between small layers that are trained.
Network WideNetwork() {
  Network network;
  network.AddInput("rows", {{4, 8}});
  network.AddLayer("first", FullyConnected(256), {"rows"});
  network.AddLayer("wide", FullyConnected(2048), {"first"});
  network.AddLayer("gelu", Gelu(), {"wide"});
  network.AddLayer("head", FullyConnected(2), {"gelu"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  network.Freeze("wide.*");
  return network;
}

TEST(FrozenTrainingTest, AMatrixMayBeLargerThanTheBudget) {
  const auto resident =
      PlanExecution(WideNetwork(), NetworkMode::kTraining, {});
  ASSERT_THAT(resident, IsOk());
  const Values expected = TrainedValues(*resident, false);
  const std::string base = SaveBase(*resident);
  for (const int threads : {1, 2, 3}) {
    const auto team = MakeTeamBackend(threads);
    MemoryOptions options;
    options.read_frozen_weights = true;
    options.budget_bytes = 1'200'000;
    const auto plan =
        PlanExecution(WideNetwork(), NetworkMode::kTraining, options, 0, *team);
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(CountTiledSteps(*plan), 2);  // forward and derivative
    EXPECT_EQ(plan->weight_bytes_read_per_iteration(),
              (2 * 256 * 2048 + 2048) * 4);
    for (const auto& [name, values] : TrainedValues(*plan, true, base)) {
      EXPECT_EQ(values, expected.at(name)) << name << ", " << threads;
    }
  }
}

// The largest weights lie where the outputs are small, so they find room below
// the largest outputs.
TEST(FrozenTrainingTest, ABackboneFromItsFileFitsBetweenTheOutputs) {
  MemoryOptions options;
  options.read_frozen_weights = true;
  const auto plan = [&options](Network network, const std::string& head) {
    const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
    for (const auto& layer : resolved->layers) {
      if (layer.is_trained() && layer.name != head) {
        network.Freeze(absl::StrCat(layer.name, ".*"));
      }
    }
    const auto planned =
        PlanExecution(network, NetworkMode::kTraining, options);
    EXPECT_THAT(planned, IsOk());
    return planned->planned_bytes();
  };
  EXPECT_LE(plan(Vgg16(32), "fc2"), 20000000);
  EXPECT_LE(plan(ResNet18(32), "fc"), 30000000);
}

// Before the trained head, the arena is that of an inference.
TEST(FrozenTrainingTest, AFrozenBackboneTakesTheMemoryOfAnInference) {
  for (const auto& each : {Vgg16(32), ResNet18(32)}) {
    Network network = each;
    const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
    std::string head;
    for (const auto& layer : resolved->layers) {
      if (layer.is_trained()) head = layer.name;
    }
    for (const auto& layer : resolved->layers) {
      if (layer.is_trained() && layer.name != head) {
        network.Freeze(absl::StrCat(layer.name, ".*"));
      }
    }
    const auto training = PlanExecution(network, NetworkMode::kTraining, {});
    const auto inference = PlanExecution(network, NetworkMode::kInference, {});
    ASSERT_THAT(training, IsOk());
    ASSERT_THAT(inference, IsOk());
    EXPECT_EQ(training->arena_bytes, inference->arena_bytes);
    const auto saved = BytesSavedByFreezing(network, {}, 0, HighwayBackend());
    ASSERT_THAT(saved, IsOk());
    EXPECT_GT(*saved, training->planned_bytes() / 10);
  }
}

// A frozen layer after a trained one keeps nothing that only its gradients
// would need: neither the inputs of linear layers nor states.
TEST(FrozenTrainingTest, FrozenLinearLayersBehindKeepNothing) {
  Network network;
  network.AddInput("rows", {{64, 16}});
  network.AddLayer("first", FullyConnected(16), {"rows"});
  std::string last = "first";
  for (int i = 0; i < 6; ++i) {
    const std::string name = absl::StrCat("linear", i);
    network.AddLayer(name, FullyConnected(16), {last});
    last = name;
  }
  network.AddLayer("loss", MeanSquaredError(), {last});
  const auto trained = PlanExecution(network, NetworkMode::kTraining, {}, 2);
  network.Freeze("linear*");
  const auto frozen = PlanExecution(network, NetworkMode::kTraining, {}, 2);
  ASSERT_THAT(trained, IsOk());
  ASSERT_THAT(frozen, IsOk());
  // Only one layer's input and output, or derivatives, are live at a time.
  EXPECT_EQ(frozen->arena_bytes, 2 * 64 * 16 * 4);
  EXPECT_GT(trained->arena_bytes, 5 * 64 * 16 * 4);
  const int64_t weight_bytes = (16 * 16 + 16) * 4;
  EXPECT_EQ(trained->fixed_bytes - frozen->fixed_bytes, 6 * 2 * weight_bytes);
}

TEST(FrozenTrainingTest, FrozenWeightsAndStatisticsStay) {
  Network network;
  network.AddInput("images", {{4, 1, 6, 6}});
  Convolution2dOptions convolution;
  convolution.channels = 3;
  network.AddLayer("conv", Convolution2d(convolution), {"images"});
  network.AddLayer("norm", BatchNormalization(), {"conv"});
  network.AddLayer("relu", Relu(), {"norm"});
  network.AddLayer("flat", Flatten(), {"relu"});
  network.AddLayer("head", FullyConnected(2), {"flat"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  network.Freeze("conv.*");
  network.Freeze("norm.*");
  const auto plan = PlanExecution(network, NetworkMode::kTraining, {});
  ASSERT_THAT(plan, IsOk());
  const auto parameters = *Parameters::Create(*plan, 3);
  const auto copy = [&parameters](const std::string& name) {
    const auto values = parameters->Find(name);
    EXPECT_THAT(values, IsOk());
    return std::vector<float>(values->begin(), values->end());
  };
  std::vector<std::vector<float>> before;
  const std::vector<std::string> names = {"conv.weight", "conv.bias",
                                          "norm.scale",  "norm.shift",
                                          "norm.mean",   "norm.variance"};
  for (const std::string& name : names) before.push_back(copy(name));
  const std::vector<float> head = copy("head.weight");
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  const auto manager = Manager::Create(*plan, parameters, options);
  ASSERT_THAT(manager, IsOk());
  RandomSequence random(5);
  FillBatch(*plan, &random, manager->get());
  ASSERT_THAT((*manager)->TrainStep(), IsOk());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(copy(names[i]), before[i]) << names[i];
  }
  EXPECT_NE(copy("head.weight"), head);
  // A value that is not finite is reported where it first appears.
  (*parameters->Find("conv.weight"))[0] = std::nanf("");
  const auto loss = (*manager)->TrainStep();
  EXPECT_THAT(loss.status(), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(loss.status().message()),
              HasSubstr("layer \"conv\""));
}

// A layer whose derivative reads its gradient, and which ignores whether it is
// frozen: y = w x, and the derivative is w dy + 0 g.
class ReadsItsGradient final : public Layer {
 public:
  absl::string_view type() const override { return "reads its gradient"; }
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.weights = {{"weight", {{1}}, Initializer::kOnes}};
    signature.saved = {{{1}}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}, {Role::kSaved}};
    signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient}};
    signature.derivative.reads = {{Role::kWeight},
                                  {Role::kSaved},
                                  {Role::kGradient},
                                  {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    return signature;
  }
  absl::Status Forward(const StepData& data) const override {
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    const float weight = data.Read(Role::kWeight)[0];
    data.Write(Role::kSaved)[0] = weight;
    for (int64_t i = 0; i < data.elements(Role::kInput); ++i) {
      output[i] = weight * input[i];
    }
    return absl::OkStatus();
  }
  void CalculateGradient(const StepData& data) const override {
    float sum = 0;
    for (int64_t i = 0; i < data.elements(Role::kInput); ++i) {
      sum += data.Read(Role::kInput)[i] * data.Read(Role::kOutputDerivative)[i];
    }
    data.Write(Role::kGradient)[0] = sum;
  }
  void CalculateDerivative(const StepData& data) const override {
    const float more = 0 * data.Read(Role::kGradient)[0];
    for (int64_t i = 0; i < data.elements(Role::kOutputDerivative); ++i) {
      data.Write(Role::kInputDerivative)[i] =
          data.Read(Role::kSaved)[0] * data.Read(Role::kOutputDerivative)[i] +
          more;
    }
  }
};

TEST(FrozenTrainingTest, ALayerThatKnowsNothingOfFreezingIsFrozenToo) {
  for (const bool in_front : {false, true}) {
    Network network;
    network.AddInput("rows", {{4, 3}});
    network.AddLayer("own", std::make_shared<ReadsItsGradient>(),
                     {in_front ? "rows" : "fc"});
    network.AddLayer("fc", FullyConnected(3), {in_front ? "own" : "rows"});
    network.AddLayer("loss", MeanSquaredError(), {in_front ? "fc" : "own"});
    const std::vector<std::string> own = {"own"};
    const auto frozen = PlanExecution(WithGroups(network, own, true),
                                      NetworkMode::kTraining, {});
    const auto alone = PlanExecution(WithGroups(network, own, false),
                                     NetworkMode::kTraining, {});
    ASSERT_THAT(frozen, IsOk());
    ASSERT_THAT(alone, IsOk());
    EXPECT_EQ(TrainedValues(*frozen, true), TrainedValues(*alone, false));
  }
}

}  // namespace
}  // namespace footprint
