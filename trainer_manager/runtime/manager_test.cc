#include "footprint/trainer_manager/runtime/manager.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/random_network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ManagerTest, TrainingLearns) {
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(0.05f), Momentum(0.01f), Adam(0.01f)}) {
    ManagerOptions options;
    options.optimizer = optimizer;
    Training training = Train(TabularMlp(8), {}, options);
    SetRows(training.manager.get());
    const float first = *training.manager->TrainStep();
    for (int i = 0; i < 300; ++i) {
      ASSERT_THAT(training.manager->TrainStep(), IsOk());
    }
    EXPECT_LT(*training.manager->TrainStep(), first / 50);
  }
}

TEST(ManagerTest, FillingInPlaceIsSetting) {
  for (const int64_t micro_batches : {1, 4}) {
    MemoryOptions memory;
    memory.micro_batches = micro_batches;
    Training set = Train(TabularMlp(8), memory);
    Training filled = Train(TabularMlp(8), memory);
    const std::vector<float> rows = RandomValues(8 * 13, 5);
    const std::vector<float> labels = RandomValues(8, 6);
    ASSERT_THAT(set.manager->SetInput(0, rows), IsOk());
    ASSERT_THAT(set.manager->SetLabel(labels), IsOk());
    const auto inputs = filled.manager->InputValues(0);
    ASSERT_THAT(inputs, IsOk());
    ASSERT_EQ(inputs->size(), rows.size());
    std::copy(rows.begin(), rows.end(), inputs->begin());
    const auto targets = filled.manager->LabelValues();
    ASSERT_THAT(targets, IsOk());
    ASSERT_EQ(targets->size(), labels.size());
    std::copy(labels.begin(), labels.end(), targets->begin());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(*set.manager->TrainStep(), *filled.manager->TrainStep());
    }
  }
}

TEST(ManagerTest, IndicesAreFilledInPlaceToo) {
  for (const int64_t parts : {1, 2}) {
    MemoryOptions memory;
    memory.micro_batches = parts;
    Training set = Train(SmallTransformer(2), memory);
    Training filled = Train(SmallTransformer(2), memory);
    std::vector<int32_t> tokens(128);
    for (size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = static_cast<int32_t>(i * 7 % 1000);
    }
    ASSERT_THAT(set.manager->SetInput(0, tokens), IsOk());
    ASSERT_THAT(set.manager->SetLabel(tokens), IsOk());
    for (const auto& values : {filled.manager->InputValues<int32_t>(0),
                               filled.manager->LabelValues<int32_t>()}) {
      ASSERT_THAT(values, IsOk());
      ASSERT_EQ(values->size(), tokens.size());
      std::copy(tokens.begin(), tokens.end(), values->begin());
    }
    EXPECT_EQ(*set.manager->TrainStep(), *filled.manager->TrainStep());
  }
}

TEST(ManagerTest, OnlyWhatATrainingHasIsFilledInPlace) {
  Training tokens = Train(SmallTransformer(1));
  Training digits = Train(DigitMlp(1));
  for (const auto& values :
       {tokens.manager->InputValues(0), tokens.manager->LabelValues(),
        digits.manager->InputValues(1), digits.manager->LabelValues()}) {
    EXPECT_THAT(values, StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(digits.manager->InputValues<int32_t>(0),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(digits.manager->InputValues(0), IsOk());
  const auto plan = PlanExecution(TabularMlp(1), NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  const auto parameters = Parameters::Create(*plan, 3);
  ASSERT_THAT(parameters, IsOk());
  auto inference = Manager::Create(*plan, *parameters, {});
  ASSERT_THAT(inference, IsOk());
  EXPECT_THAT((*inference)->InputValues(0),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ManagerTest, TheWrongModeHasOneCode) {
  const absl::StatusCode wrong = absl::StatusCode::kFailedPrecondition;
  Training training = Train(TabularMlp(1));
  const std::vector<float> row(13);
  EXPECT_THAT(training.manager->Infer({absl::MakeConstSpan(row)}),
              StatusIs(wrong));
  const auto plan = PlanExecution(TabularMlp(1), NetworkMode::kInference, {});
  auto inference = *Manager::Create(*plan, *Parameters::Create(*plan, 3), {});
  EXPECT_THAT(inference->TrainStep(), StatusIs(wrong));
  EXPECT_THAT(inference->SetInput(0, row), StatusIs(wrong));
  EXPECT_THAT(inference->SetLabel(row), StatusIs(wrong));
  EXPECT_THAT(inference->LabelValues(), StatusIs(wrong));
}

TEST(ManagerTest, NullAndMisalignedValuesAreNamed) {
  const auto plan = PlanExecution(TabularMlp(1), NetworkMode::kInference, {});
  auto inference = *Manager::Create(*plan, *Parameters::Create(*plan, 3), {});
  Training training = Train(TabularMlp(1));
  const auto null = absl::MakeConstSpan(static_cast<const float*>(nullptr), 13);
  alignas(8) char bytes[14 * sizeof(float)] = {};
  const auto misaligned =
      absl::MakeConstSpan(reinterpret_cast<const float*>(bytes + 2), 13);
  for (const absl::Status& status :
       {inference->Infer({null}), training.manager->SetInput(0, null)}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("input 0 lies at a null address"));
  }
  for (const absl::Status& status :
       {inference->Infer({misaligned}),
        training.manager->SetInput(0, misaligned)}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("input 0 lies 2 bytes behind a multiple of 4"));
  }
}

// The loss of an inference must equal that of the training's forward steps.
TEST(ManagerTest, EvaluatesTheLossInInference) {
  MemoryOptions memory;
  memory.keep_loss = true;
  for (const bool classes : {false, true}) {
    const Network network = classes ? DigitMlp(8) : TabularMlp(8);
    Training training = Train(network);
    const std::vector<float> rows = RandomValues(8 * (classes ? 784 : 13), 5);
    const std::vector<float> values = RandomValues(8, 6);
    const std::vector<int32_t> digits = {1, 2, 3, 4, 5, 6, 7, 9};
    const InputView label = classes ? InputView(absl::MakeConstSpan(digits))
                                    : InputView(absl::MakeConstSpan(values));
    ASSERT_THAT(training.manager->SetInput(0, rows), IsOk());
    ASSERT_THAT((classes ? training.manager->SetLabel(digits)
                         : training.manager->SetLabel(values)),
                IsOk());
    const auto plan = PlanExecution(network, NetworkMode::kInference, memory);
    ASSERT_THAT(plan, IsOk());
    const auto plain = PlanExecution(network, NetworkMode::kInference, {});
    EXPECT_EQ(plan->network->outputs, plain->network->outputs);
    ManagerOptions options;
    options.watch_inputs = true;
    options.poison = true;
    auto inference = Manager::Create(*plan, training.parameters, options);
    ASSERT_THAT(inference, IsOk());
    auto without = *Manager::Create(*plain, training.parameters, {});
    const auto loss =
        (*inference)->Evaluate({absl::MakeConstSpan(rows)}, label);
    ASSERT_THAT(loss, IsOk());
    ASSERT_THAT(without->Infer({absl::MakeConstSpan(rows)}), IsOk());
    EXPECT_EQ(*(*inference)->Output(), *without->Output());
    EXPECT_EQ(*loss, *training.manager->TrainStep());
    // A plan that keeps the loss requires a label.
    EXPECT_THAT((*inference)->Infer({absl::MakeConstSpan(rows)}),
                StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(without->Evaluate({absl::MakeConstSpan(rows)}, label),
                StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(training.manager->Evaluate({absl::MakeConstSpan(rows)}, label),
                StatusIs(absl::StatusCode::kFailedPrecondition));
  }
}

TEST(ManagerTest, AnEvaluationThatCannotBeIsRefused) {
  MemoryOptions memory;
  memory.keep_loss = true;
  const auto plan = PlanExecution(DigitMlp(2), NetworkMode::kInference, memory);
  ASSERT_THAT(plan, IsOk());
  const auto parameters = *Parameters::Create(*plan, 3);
  auto inference = *Manager::Create(*plan, parameters, {});
  std::vector<float> rows(2 * 784);
  const auto evaluate = [&](InputView label) {
    return inference->Evaluate({absl::MakeConstSpan(rows)}, label).status();
  };
  const std::vector<int32_t> good = {1, 2};
  const std::vector<int32_t> wrong = {1, 10};
  EXPECT_THAT(evaluate(absl::MakeConstSpan(good)), IsOk());
  absl::Status status = evaluate(absl::MakeConstSpan(wrong));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("layer \"loss\", forward: label 10"));
  status = evaluate(absl::MakeConstSpan(rows));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("label 0 takes 2 I32 values"));
  rows[5] = NAN;
  status = evaluate(absl::MakeConstSpan(good));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("first in layer \"fc1\", forward: input 0 is nan"));
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("relu", Relu(), {"x"});
  EXPECT_THAT(PlanExecution(network, NetworkMode::kInference, memory),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ManagerTest, TheArenaComesWithTheFirstStepAndGoesOnRequest) {
  Training training = Train(TabularMlp(8));
  EXPECT_EQ(training.manager->arena_bytes(), 0);
  SetRows(training.manager.get());
  ASSERT_THAT(training.manager->TrainStep(), IsOk());
  EXPECT_EQ(training.manager->arena_bytes(), training.plan.arena_bytes);
  training.manager->ReleaseArena();
  EXPECT_EQ(training.manager->arena_bytes(), 0);
  EXPECT_THAT(training.manager->TrainStep(), IsOk());
}

TEST(ManagerTest, InferenceReadsTheCallersMemory) {
  Training training = Train(TabularMlp(8));
  SetRows(training.manager.get());
  ASSERT_THAT(training.manager->TrainStep(), IsOk());
  const auto plan = PlanExecution(TabularMlp(1), NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  for (const bool retain : {false, true}) {
    ManagerOptions options;
    options.retain_arena = retain;
    options.watch_inputs = true;
    auto inference = Manager::Create(*plan, training.parameters, options);
    ASSERT_THAT(inference, IsOk());
    const std::vector<float> row = RandomValues(13, 9);
    ASSERT_THAT((*inference)->Infer({absl::MakeConstSpan(row)}), IsOk());
    EXPECT_EQ(row, RandomValues(13, 9));
    EXPECT_EQ((*inference)->arena_bytes() > 0, retain);
    // The expected values come from the three layers in plain loops.
    const auto layer = [&](const std::string& name, std::vector<float> x) {
      const absl::Span<float> weight =
          *training.parameters->Find(name + ".weight");
      const absl::Span<float> bias = *training.parameters->Find(name + ".bias");
      std::vector<float> y(bias.begin(), bias.end());
      for (size_t u = 0; u < y.size(); ++u) {
        for (size_t i = 0; i < x.size(); ++i) {
          y[u] += x[i] * weight[i * y.size() + u];
        }
        if (name != "fc3") y[u] = std::max(y[u], 0.0f);
      }
      return y;
    };
    const float expected = layer("fc3", layer("fc2", layer("fc1", row)))[0];
    const auto output = (*inference)->Output();
    ASSERT_THAT(output, IsOk());
    EXPECT_NEAR((*output)[0], expected, 1e-5);
  }
}

TEST(ManagerTest, DebugModeKeepsEveryTensorReadable) {
  Training training = Train(TabularMlp(8), MemoryOptions::Debug());
  SetRows(training.manager.get());
  const float loss = *training.manager->TrainStep();
  for (const PlannedTensor& tensor : training.plan.tensors) {
    EXPECT_THAT(training.manager->Inspect(training.plan, tensor.name), IsOk())
        << tensor.name;
  }
  EXPECT_EQ((*training.manager->Inspect(training.plan, "loss output"))[0],
            loss);
  const auto gradient =
      *training.manager->Inspect(training.plan, "fc1.weight gradient");
  double squares = 0;
  for (const float g : gradient) squares += static_cast<double>(g) * g;
  EXPECT_GT(squares, 0);
  EXPECT_THAT(training.manager->Inspect(training.plan, "nothing"),
              StatusIs(absl::StatusCode::kNotFound));
  Training planned = Train(TabularMlp(8));
  SetRows(planned.manager.get());
  ASSERT_THAT(planned.manager->TrainStep(), IsOk());
  EXPECT_THAT(planned.manager->Inspect(planned.plan, "fc1 output"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ManagerTest, DebugModeShowsIndicesAndBytesToo) {
  Network network;
  network.AddInput("x", {{2, 1, 2, 2}});
  Convolution2dOptions one;
  one.kernel = 1;
  network.AddLayer("convolution", Convolution2d(one), {"x"});
  network.AddLayer("pool", MaxPool2d(2), {"convolution"});
  network.AddLayer("flat", Flatten(), {"pool"});
  network.AddLayer("classes", FullyConnected(3), {"flat"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"classes"});
  // Labels are those of the whole batch, whatever the micro-batches.
  for (const int64_t parts : {1, 2}) {
    MemoryOptions memory = MemoryOptions::Debug();
    memory.micro_batches = parts;
    const Training training = Train(network, memory);
    const std::vector<int32_t> labels = {2, 1};
    ASSERT_THAT(training.manager->InputValues(0), IsOk());
    ASSERT_THAT(training.manager->SetLabel(absl::MakeConstSpan(labels)),
                IsOk());
    ASSERT_THAT(training.manager->TrainStep(), IsOk());
    const auto label =
        training.manager->Inspect<int32_t>(training.plan, "loss label");
    ASSERT_THAT(label, IsOk());
    EXPECT_THAT(*label, ElementsAre(2, 1));
    int tensors_of_bytes = 0;
    for (const PlannedTensor& tensor : training.plan.tensors) {
      if (tensor.spec.type != DType::kU8) continue;
      ++tensors_of_bytes;
      const auto bytes =
          training.manager->Inspect<uint8_t>(training.plan, tensor.name);
      ASSERT_THAT(bytes, IsOk());
      EXPECT_EQ(static_cast<int64_t>(bytes->size()), tensor.size_bytes);
      EXPECT_THAT(
          std::string(training.manager->Inspect(training.plan, tensor.name)
                          .status()
                          .message()),
          HasSubstr("holds bytes; use Inspect<uint8_t>"));
    }
    EXPECT_GT(tensors_of_bytes, 0);
    EXPECT_THAT(
        training.manager->Inspect<int32_t>(training.plan, "flat output"),
        StatusIs(absl::StatusCode::kFailedPrecondition));
  }
}

TEST(ManagerTest, RefusesAnOptimizerThatCannotTrain) {
  const auto plan = PlanExecution(TabularMlp(8), NetworkMode::kTraining, {});
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(-1);
  const absl::Status status =
      Manager::Create(*plan, *Parameters::Create(*plan, 1), options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()), HasSubstr("rate is -1"));
}

TEST(ManagerTest, RefusesValuesOfTheWrongNumberOrType) {
  Training training = Train(DigitMlp(4));
  Manager& manager = *training.manager;
  const std::vector<float> floats(3, 0.0f);
  const absl::Status label = manager.SetLabel(floats);
  EXPECT_THAT(label, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(label.message()),
              HasSubstr("label 0 takes 4 I32 values of shape [4], not 3 "
                        "F32"));
  EXPECT_THAT(manager.SetLabel(std::vector<int32_t>(5)), Not(IsOk()));
  EXPECT_THAT(manager.SetInput(1, floats), Not(IsOk()));
  EXPECT_THAT(manager.SetInput(0, floats), Not(IsOk()));
  EXPECT_THAT(manager.SetInput(0, std::vector<int32_t>(4 * 784)), Not(IsOk()));
  EXPECT_THAT(manager.SetLabel(std::vector<int32_t>(4)), IsOk());
  EXPECT_THAT(manager.Infer({}), Not(IsOk()));
  EXPECT_THAT(manager.Output(), Not(IsOk()));
}

TEST(ManagerTest, ALabelThatIsNoClassNamesTheLayer) {
  Training training = Train(DigitMlp(2));
  ASSERT_THAT(training.manager->InputValues(0), IsOk());
  ASSERT_THAT(training.manager->SetLabel(std::vector<int32_t>{1, 10}), IsOk());
  const auto loss = training.manager->TrainStep();
  EXPECT_THAT(loss, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(loss.status().message()),
              HasSubstr("layer \"loss\", forward: label 10"));
}

TEST(ManagerTest, ALossThatIsNotFiniteNamesTheFirstLayerAndChangesNoWeight) {
  Training training = Train(TabularMlp(8));
  SetRows(training.manager.get());
  ASSERT_THAT(training.manager->TrainStep(), IsOk());
  const absl::Span<float> weight = *training.parameters->Find("fc2.weight");
  weight[17] = INFINITY;
  const std::vector<float> before(weight.begin(), weight.end());
  auto loss = training.manager->TrainStep();
  EXPECT_THAT(loss, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(loss.status().message()),
              HasSubstr("layer \"fc2\", forward: weight 0 is inf at index 17"));
  EXPECT_EQ(before, std::vector<float>(weight.begin(), weight.end()));
  weight[17] = 3e38f;
  loss = training.manager->TrainStep();
  EXPECT_THAT(std::string(loss.status().message()), HasSubstr("the loss is "));
  weight[17] = 0;
  EXPECT_THAT(training.manager->TrainStep(), IsOk());
}

// Returns a network for four rows with a normalization; labels are classes.
Network Normalized() {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc1", FullyConnected(5), {"x"});
  network.AddLayer("norm1", BatchNormalization(), {"fc1"});
  network.AddLayer("relu", Relu(), {"norm1"});
  network.AddLayer("fc2", FullyConnected(4), {"relu"});
  network.AddLayer("norm2", BatchNormalization(), {"fc2"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"norm2"});
  return network;
}

// Running statistics change in the forward steps, before the loss is known.
TEST(ManagerTest, ARefusedStepLeavesTheModelAsItWas) {
  for (const int64_t parts : {1, 2}) {
    for (const bool poison : {false, true}) {
      MemoryOptions memory;
      memory.micro_batches = parts;
      ManagerOptions options;
      options.poison = poison;
      Training training = Train(Normalized(), memory, options);
      Manager& manager = *training.manager;
      const std::vector<int32_t> labels = {0, 1, 2, 3};
      std::vector<float> rows = RandomValues(12, 4);
      ASSERT_THAT(manager.SetInput(0, rows), IsOk());
      ASSERT_THAT(manager.SetLabel(labels), IsOk());
      ASSERT_THAT(manager.TrainStep(), IsOk());
      const std::vector<float> before = AllParameters(*training.parameters);
      // With two micro-batches the NaN is in the second.
      rows[10] = NAN;
      ASSERT_THAT(manager.SetInput(0, rows), IsOk());
      const auto loss = manager.TrainStep();
      EXPECT_THAT(loss, StatusIs(absl::StatusCode::kOutOfRange));
      EXPECT_EQ(AllParameters(*training.parameters), before) << parts;
      rows[10] = 0;
      ASSERT_THAT(manager.SetInput(0, rows), IsOk());
      ASSERT_THAT(manager.SetLabel(std::vector<int32_t>{0, 1, 2, 9}), IsOk());
      EXPECT_THAT(manager.TrainStep(), Not(IsOk()));
      EXPECT_EQ(AllParameters(*training.parameters), before) << parts;
      ASSERT_THAT(manager.SetLabel(labels), IsOk());
      ASSERT_THAT(manager.TrainStep(), IsOk());
      EXPECT_NE(AllParameters(*training.parameters), before);
      EXPECT_NE((*training.parameters->Find("norm2.mean"))[0], 0);
    }
  }
}

TEST(ManagerTest, ANaNInTheDataIsFoundInTheLayerThatReadsIt) {
  Training training = Train(Normalized());
  std::vector<float> rows = RandomValues(12, 4);
  rows[7] = NAN;
  SetZeros(training.plan, training.manager.get());
  ASSERT_THAT(training.manager->SetInput(0, rows), IsOk());
  EXPECT_THAT(std::string(training.manager->TrainStep().status().message()),
              HasSubstr("layer \"fc1\", forward: input 0 is nan at index 7"));
}

TEST(ManagerTest, InfersFromInputsOfSeveralTypes) {
  Network network;
  network.AddInput("tokens", {{2, 3}, DType::kI32});
  network.AddInput("x", {{2, 3, 2}});
  network.AddLayer("embedding", Embedding(5, 2), {"tokens"});
  network.AddLayer("sum", Add(), {"embedding", "x"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  const auto parameters = Parameters::Create(*plan, 1);
  auto manager = Manager::Create(*plan, *parameters, {});
  ASSERT_THAT(manager, IsOk());
  const std::vector<int32_t> tokens = {0, 4, 2, 1, 1, 3};
  const std::vector<float> x = RandomValues(12, 3);
  const absl::Status status =
      (*manager)->Infer({absl::MakeConstSpan(tokens), absl::MakeConstSpan(x)});
  ASSERT_THAT(status, IsOk());
  const absl::Span<float> table = *(*parameters)->Find("embedding.weight");
  const auto output = *(*manager)->Output();
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(output[i],
              table[static_cast<size_t>(tokens[i / 2]) * 2 + i % 2] + x[i]);
  }
  const absl::Status swapped =
      (*manager)->Infer({absl::MakeConstSpan(x), absl::MakeConstSpan(tokens)});
  EXPECT_THAT(swapped, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(swapped.message()),
              HasSubstr("input 0 takes 6 I32 values of shape [2, 3], not 12 "
                        "F32"));
  EXPECT_THAT((*manager)->Infer({absl::MakeConstSpan(tokens)}), Not(IsOk()));
}

TEST(ManagerTest, InspectRefusesAnotherPlan) {
  Training training = Train(TabularMlp(8), MemoryOptions::Debug());
  SetRows(training.manager.get());
  ASSERT_THAT(training.manager->TrainStep(), IsOk());
  const ExecutionPlan equal = Train(TabularMlp(8), MemoryOptions::Debug()).plan;
  EXPECT_THAT(training.manager->Inspect(equal, "fc1 output"), IsOk());
  const ExecutionPlan other =
      Train(TabularMlp(16), MemoryOptions::Debug()).plan;
  const absl::Status status =
      training.manager->Inspect(other, "fc1 output").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()), HasSubstr("not the plan"));
}

TEST(ManagerTest, RefusesAnOptimizerThatWasNotPlanned) {
  const auto plan = PlanExecution(TabularMlp(8), NetworkMode::kTraining, {}, 1);
  const auto parameters = Parameters::Create(*plan, 1);
  ManagerOptions options;
  EXPECT_THAT(
      std::string(
          Manager::Create(*plan, *parameters, options).status().message()),
      HasSubstr("needs an optimizer"));
  options.optimizer = Adam(0.1f);
  EXPECT_THAT(
      std::string(
          Manager::Create(*plan, *parameters, options).status().message()),
      HasSubstr("2 states for each weight, but 1 are planned: give "
                "PlanExecution its states_per_weight()"));
}

TEST(ManagerTest, RefusesParametersOfAnotherNetwork) {
  const auto digits = PlanExecution(DigitMlp(8), NetworkMode::kTraining, {});
  const auto plan = PlanExecution(TabularMlp(8), NetworkMode::kTraining, {});
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  EXPECT_THAT(
      std::string(
          Manager::Create(*plan, *Parameters::Create(*digits, 1), options)
              .status()
              .message()),
      HasSubstr("parameter \"fc1.weight\" is of shape [784, 512], but the "
                "network needs [13, 50]"));
  // The number of values is equal, but the shape is not.
  const auto convolution = [](int64_t channels, int64_t kernel) {
    Network network;
    network.AddInput("x", {{1, channels, kernel, kernel}});
    Convolution2dOptions filters;
    filters.kernel = kernel;
    network.AddLayer("layer", Convolution2d(filters), {"x"});
    return *PlanExecution(network, NetworkMode::kInference, {});
  };
  const auto parameters = *Parameters::Create(convolution(4, 1), 1);
  EXPECT_THAT(Manager::Create(convolution(4, 1), parameters, {}), IsOk());
  EXPECT_THAT(Manager::Create(convolution(1, 2), parameters, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// A layer that writes into lent memory.
class ScribblingLayer final : public Layer {
 public:
  absl::string_view type() const override { return "scribbling"; }
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    return Relu()->Describe(inputs);
  }
  absl::Status Forward(const StepData& data) const override {
    ++*const_cast<float*>(data.Read(Role::kInput));
    return absl::OkStatus();
  }
};

TEST(ManagerTest, NoticesThatTheCallersMemoryChanged) {
  Network network;
  network.AddInput("x", {{1, 3}});
  network.AddLayer("bad", std::make_shared<ScribblingLayer>(), {"x"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  ManagerOptions options;
  options.watch_inputs = true;
  auto manager = Manager::Create(*plan, *Parameters::Create(*plan, 1), options);
  std::vector<float> x = {1, 2, 3};
  const absl::Status status = (*manager)->Infer({absl::MakeConstSpan(x)});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("layer \"bad\""));
}

// A layer that releases lent memory.
class ReleasingLayer final : public Layer {
 public:
  absl::string_view type() const override { return "releasing"; }
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    return Relu()->Describe(inputs);
  }
  absl::Status Forward(const StepData& data) const override {
    const int64_t elements = data.elements(Role::kInput);
    std::fill_n(data.Write(Role::kOutput), elements, 0.0f);
    munmap(const_cast<float*>(data.Read(Role::kInput)),
           static_cast<size_t>(elements) * sizeof(float));
    return absl::OkStatus();
  }
};

TEST(ManagerTest, NoticesThatTheCallersMemoryIsGone) {
  constexpr size_t kElements = 4096;
  Network network;
  network.AddInput("x", {{1, kElements}});
  network.AddLayer("bad", std::make_shared<ReleasingLayer>(), {"x"});
  network.AddLayer("next", Relu(), {"x"});
  network.AddLayer("sum", Add(), {"bad", "next"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  ManagerOptions options;
  options.watch_inputs = true;
  auto manager = Manager::Create(*plan, *Parameters::Create(*plan, 1), options);
  void* const data = mmap(nullptr, kElements * sizeof(float), PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(data, MAP_FAILED);
  const auto lent =
      absl::MakeConstSpan(static_cast<const float*>(data), kElements);
  absl::Status status = (*manager)->Infer({lent});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("input 0 was released before layer \"bad\""));
  status = (*manager)->Infer({lent});
  EXPECT_THAT(std::string(status.message()), HasSubstr("it was released"));
}

// The bytes of an output that is not kept may belong to another tensor.
TEST(ManagerTest, InspectSaysWhatCannotBeRead) {
  MemoryOptions memory;
  memory.keep_outputs = true;
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("fc", FullyConnected(2), {"x"});
  network.AddLayer("relu", Relu(), {"fc"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"relu"});
  Training training = Train(network, memory);
  SetZeros(training.plan, training.manager.get());
  ASSERT_THAT(training.manager->TrainStep(), IsOk());
  const auto why = [](const Manager& manager, const ExecutionPlan& plan,
                      const char* name) {
    const absl::Status status = manager.Inspect(plan, name).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition))
        << name;
    return std::string(status.message());
  };
  EXPECT_THAT(training.manager->Inspect(training.plan, "relu output"), IsOk());
  EXPECT_THAT(why(*training.manager, training.plan, "fc output"),
              HasSubstr("is not kept"));
  EXPECT_THAT(why(*training.manager, training.plan, "loss label"),
              HasSubstr("holds indices; use Inspect<int32_t>"));
  const auto plan =
      PlanExecution(network, NetworkMode::kInference, MemoryOptions::Debug());
  const auto manager = *Manager::Create(*plan, training.parameters, {});
  const std::vector<float> x(6);
  ASSERT_THAT(manager->Infer({absl::MakeConstSpan(x)}), IsOk());
  EXPECT_THAT(why(*manager, *plan, "x"), HasSubstr("the caller's memory"));
  EXPECT_THAT(why(*manager, *plan, "fc output"), HasSubstr("retain_arena"));
}

// Each arena tensor in turn loses its memory right after it was written, as if
// its lifespan were wrong.
TEST(ManagerTest, PoisonFindsEveryLifespanThatIsTooShort) {
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.05f);
  options.poison = true;
  for (const Network& network :
       {TabularMlp(8), LeNet5(2), RandomImageNetwork(5),
        RandomImageNetwork(9)}) {
    const auto correct = PlanExecution(network, NetworkMode::kTraining, {});
    ASSERT_THAT(correct, IsOk());
    int tried = 0;
    for (size_t i = 0; i <= correct->storages.size(); ++i) {
      ExecutionPlan plan = *correct;
      bool shortened = false;
      if (i < correct->storages.size()) {
        Storage& storage = plan.storages[i];
        if (storage.storage_class != StorageClass::kArena) continue;
        shortened = storage.upper_step > storage.lower_step + 1;
        storage.upper_step = storage.lower_step + 1;
        plan.fingerprint = PlanFingerprint(plan);
      }
      auto manager =
          Manager::Create(plan, *Parameters::Create(plan, 1), options);
      ASSERT_THAT(manager, IsOk());
      const size_t inputs = static_cast<size_t>(
          plan.tensors[plan.input_tensors[0]].spec.shape.elements());
      SetZeros(plan, manager->get());
      ASSERT_THAT((*manager)->SetInput(0, RandomValues(inputs, 2)), IsOk());
      const auto loss = (*manager)->TrainStep();
      EXPECT_EQ(loss.ok(), !shortened)
          << plan.tensors[plan.storages[i].tensors[0]].name << loss.status();
      tried += shortened;
    }
    EXPECT_GT(tried, 4);
  }
}

TEST(ManagerTest, AnEditedPlanIsRefused) {
  const auto plan = PlanExecution(TabularMlp(8), NetworkMode::kTraining, {});
  ASSERT_THAT(plan, IsOk());
  const auto parameters = *Parameters::Create(*plan, 1);
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  constexpr size_t kNowhere = size_t{1} << 40;
  const std::vector<std::function<void(ExecutionPlan*)>> edits = {
      [](ExecutionPlan* p) { p->offsets_bytes.back() += 64; },
      [](ExecutionPlan* p) { p->storage_of[0] = kNowhere; },
      [](ExecutionPlan* p) { p->tensors[0].name += "'"; },
      [](ExecutionPlan* p) {
        p->tensors.back().spec.shape = {1000, 1000};
      },
      [](ExecutionPlan* p) { p->steps[0].uses[0].tensor = kNowhere; },
      [](ExecutionPlan* p) { p->steps[0].layer = kNowhere; },
      [](ExecutionPlan* p) { p->steps.pop_back(); },
      [](ExecutionPlan* p) { p->loss_tensor = kNowhere; },
      [](ExecutionPlan* p) { p->input_tensors.clear(); },
      [](ExecutionPlan* p) { p->arena_bytes = 16; },
      [](ExecutionPlan* p) { p->fixed_bytes = 0; },
      [](ExecutionPlan* p) { p->micro_batches = 4; },
      [](ExecutionPlan* p) {
        ResolvedNetwork network = *p->network;
        network.layers[0].layer = nullptr;
        p->network = std::make_shared<const ResolvedNetwork>(network);
      },
      [](ExecutionPlan* p) {
        ResolvedNetwork network = *p->network;
        network.layers[0].inputs = {kNowhere};
        p->network = std::make_shared<const ResolvedNetwork>(network);
      },
      [](ExecutionPlan* p) { p->network = nullptr; },
  };
  for (size_t i = 0; i < edits.size(); ++i) {
    ExecutionPlan edited = *plan;
    edits[i](&edited);
    for (const absl::Status& status :
         {Manager::Create(edited, parameters, options).status(),
          Parameters::Create(edited, 1).status()}) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << i;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("not as PlanExecution made it"))
          << i;
    }
  }
  const ExecutionPlan copy = *plan;
  EXPECT_THAT(Manager::Create(copy, parameters, options), IsOk());
  const auto again = PlanExecution(TabularMlp(8), NetworkMode::kTraining, {});
  EXPECT_EQ(again->fingerprint, plan->fingerprint);
}

// Doubles its input. The derivative reads neither input nor output, so the
// output can be recomputed from an input that is kept anyway.
class TwiceLayer : public Layer {
 public:
  absl::string_view type() const override { return "twice"; }
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.forward.reads = {{Role::kInput}};
    signature.forward.writes = {{Role::kOutput}};
    signature.recompute = signature.forward;
    signature.derivative.reads = {{Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    return signature;
  }
  absl::Status Forward(const StepData& data) const override {
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    for (int64_t i = 0; i < data.elements(Role::kInput); ++i) {
      output[i] = 2 * input[i];
    }
    return absl::OkStatus();
  }
  void CalculateDerivative(const StepData& data) const override {
    const float* from = data.Read(Role::kOutputDerivative);
    float* to = data.Write(Role::kInputDerivative);
    for (int64_t i = 0; i < data.elements(Role::kInputDerivative); ++i) {
      to[i] = 2 * from[i];
    }
  }
};

// A layer whose Recompute differs from its Forward from call `first_wrong` on.
class ForgetfulLayer final : public TwiceLayer {
 public:
  explicit ForgetfulLayer(int first_wrong) : first_wrong_(first_wrong) {}
  absl::Status Recompute(const StepData& data) const override {
    const absl::Status status = Forward(data);
    if (++calls_ >= first_wrong_) {
      float* output = data.Write(Role::kOutput);
      const int64_t last = data.elements(Role::kOutput) - 1;
      output[last] = std::nextafter(output[last], 1e9f);
    }
    return status;
  }

 private:
  const int first_wrong_;
  mutable int calls_ = 0;
};

Network WithOwnLayer(LayerPointer own) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("fc1", FullyConnected(4), {"x"});
  network.AddLayer("sigmoid", Sigmoid(), {"fc1"});
  network.AddLayer("own", std::move(own), {"sigmoid"});
  network.AddLayer("fc2", FullyConnected(1), {"own"});
  network.AddLayer("loss", MeanSquaredError(), {"fc2"});
  return network;
}

TEST(ManagerTest, ARecomputeThatIsNotItsForwardIsNamed) {
  constexpr int kNever = 1000;
  for (const bool poison : {false, true}) {
    for (const int first_wrong : {1, 3, kNever}) {
      for (const int64_t parts : {1, 2}) {
        MemoryOptions memory;
        memory.micro_batches = parts;
        ManagerOptions options;
        options.poison = poison;
        Training training =
            Train(WithOwnLayer(std::make_shared<ForgetfulLayer>(first_wrong)),
                  memory, options);
        int again = 0;
        for (const PlannedStep& step : training.plan.steps) {
          again += step.kind == StepKind::kRecompute;
        }
        ASSERT_EQ(again, 1);
        SetZeros(training.plan, training.manager.get());
        absl::Status status;
        for (int i = 0; i < 4 && status.ok(); ++i) {
          status = training.manager->TrainStep().status();
        }
        // Later recomputations are compared only with `poison`.
        if (first_wrong == kNever || (first_wrong == 3 && !poison)) {
          EXPECT_THAT(status, IsOk());
          continue;
        }
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
        EXPECT_THAT(std::string(status.message()),
                    ::testing::AllOf(HasSubstr("layer \"own\", "),
                                     HasSubstr("Recompute does not give")));
      }
    }
  }
}

// A layer that declares steps which it does not implement.
class UnfinishedLayer final : public Layer {
 public:
  explicit UnfinishedLayer(bool has_weight) : has_weight_(has_weight) {}
  absl::string_view type() const override { return "unfinished"; }
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::StatusOr<LayerSignature> signature = TwiceLayer().Describe(inputs);
    if (has_weight_) {
      signature->weights = {{"scale", {{1}}, Initializer::kOnes}};
      signature->gradient.reads = {{Role::kOutputDerivative}};
      signature->gradient.writes = {{Role::kGradient}};
    }
    return signature;
  }
  absl::Status Forward(const StepData& data) const override {
    return TwiceLayer().Forward(data);
  }

 private:
  const bool has_weight_;
};

TEST(ManagerTest, ADeclaredStepThatALayerDoesNotHaveEndsTheProgram) {
  for (const bool has_weight : {true, false}) {
    Training training =
        Train(WithOwnLayer(std::make_shared<UnfinishedLayer>(has_weight)));
    SetZeros(training.plan, training.manager.get());
    EXPECT_DEATH((void)training.manager->TrainStep(),
                 has_weight
                     ? "layer \"own\": its signature declares a step that "
                       "it does not have: override CalculateGradient"
                     : "override CalculateDerivative");
  }
}

// Returns the loss and the weights of a network with dropout after some steps.
std::vector<float> TrainWithDropout(int64_t parts) {
  Network network;
  network.AddInput("x", {{8, 3}});
  network.AddLayer("fc1", FullyConnected(16), {"x"});
  network.AddLayer("tanh", Tanh(), {"fc1"});
  network.AddLayer("dropout", Dropout(0.5f), {"tanh"});
  network.AddLayer("fc2", FullyConnected(1), {"dropout"});
  network.AddLayer("loss", MeanSquaredError(), {"fc2"});
  MemoryOptions memory;
  memory.micro_batches = parts;
  Training training = Train(network, memory);
  std::vector<float> results;
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_THAT(training.manager->SetInput(0, RandomValues(24, 2 * i)), IsOk());
    EXPECT_THAT(training.manager->SetLabel(RandomValues(8, 2 * i + 1)), IsOk());
    const auto loss = training.manager->TrainStep();
    EXPECT_THAT(loss, IsOk());
    if (loss.ok()) results.push_back(*loss);
  }
  for (const float value : AllParameters(*training.parameters)) {
    results.push_back(value);
  }
  return results;
}

// The losses then differ only by the order of sums.
TEST(ManagerTest, MicroBatchesHaveTheDropoutOfTheWholeBatch) {
  const std::vector<float> whole = TrainWithDropout(1);
  for (const int64_t parts : {2, 4, 8}) {
    const std::vector<float> in_parts = TrainWithDropout(parts);
    ASSERT_EQ(in_parts.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_NEAR(in_parts[i], whole[i], 1e-6) << parts << " parts, " << i;
    }
  }
}

TEST(ManagerTest, AStepThatUsesWhatItDidNotDeclareEndsTheProgram) {
  class Greedy final : public Layer {
    absl::string_view type() const override { return "greedy"; }
    absl::StatusOr<LayerSignature> Describe(
        const LayerInputs& inputs) const override {
      return Relu()->Describe(inputs);
    }
    absl::Status Forward(const StepData& data) const override {
      data.Read(Role::kOutput);
      return absl::OkStatus();
    }
  };
  Network network;
  network.AddInput("x", {{1, 3}});
  network.AddLayer("greedy", std::make_shared<Greedy>(), {"x"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  auto manager = Manager::Create(*plan, *Parameters::Create(*plan, 1), {});
  std::vector<float> x = {1, 2, 3};
  EXPECT_DEATH((void)(*manager)->Infer({absl::MakeConstSpan(x)}),
               "layer \"greedy\": a step reads its output 0, which its "
               "signature does not declare");
}

}  // namespace
}  // namespace footprint
