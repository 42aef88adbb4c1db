#include "footprint/trainer_manager/runtime/weight_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/overwrite_value.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A network whose first two layers are frozen and have the same weights.
Network MakeNetwork() {
  Network network;
  network.AddInput("rows", {{2, 3}});
  network.AddLayer("base", FullyConnected(3), {"rows"});
  network.AddLayer("again", FullyConnected(3), {"base"}, "base");
  network.AddLayer("head", FullyConnected(1), {"again"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  network.Freeze("base.*");
  return network;
}

ExecutionPlan Plan(bool reads, NetworkMode mode = NetworkMode::kTraining) {
  MemoryOptions options;
  options.read_frozen_weights = reads;
  const auto plan = PlanExecution(MakeNetwork(), mode, options);
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

// Writes the weights of a training with all weights in memory, which differ in
// each element.
std::string SaveBase(const std::string& name) {
  const auto parameters = *Parameters::Create(Plan(false), 1);
  float next = 0;
  for (const Parameters::Parameter& each : parameters->all()) {
    for (float& value : each.values) value = next += 0.125f;
  }
  const std::string path = TestPath(name);
  EXPECT_THAT(SaveParameters(*parameters, path), IsOk());
  return path;
}

absl::StatusOr<std::unique_ptr<Manager>> MakeManager(
    const ManagerOptions& with) {
  const ExecutionPlan plan = Plan(true);
  ManagerOptions options = with;
  options.optimizer = StochasticGradientDescent(0.1f);
  return Manager::Create(plan, *Parameters::Create(plan, 1), options);
}

absl::Status Step(Manager* manager) {
  const auto rows = manager->InputValues(0);
  const auto labels = manager->LabelValues();
  std::fill(rows->begin(), rows->end(), 0.5f);
  std::fill(labels->begin(), labels->end(), 1.0f);
  return manager->TrainStep().status();
}

TEST(WeightReaderTest, ReadsTheOperandsOfEachStep) {
  const ExecutionPlan plan = Plan(true);
  // The derivative of "again" needs no weights, since nothing before it is
  // trained.
  EXPECT_EQ(plan.weight_bytes_read_per_iteration(), 2 * (9 + 3) * 4);
  EXPECT_EQ(plan.model_bytes, 16 + 4);  // of the head, aligned
  auto reader = WeightReader::Open(plan, SaveBase("base.safetensors"), {});
  ASSERT_THAT(reader, IsOk());
  const TensorType weight = {{3, 3}};
  const TensorType bias = {{3}};
  std::vector<float> values(12);
  const std::vector<StepData::Slot> slots = {
      {{Role::kWeight, 0}, false, true, &weight, values.data()},
      {{Role::kWeight, 1}, false, true, &bias, values.data() + 9}};
  for (const size_t first : {0, 2}) {
    values.assign(12, -1);
    ASSERT_THAT((*reader)->Read(first, slots), IsOk());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], 0.125f * static_cast<float>(i + 1)) << first;
    }
  }
}

TEST(WeightReaderTest, AMapNamesAndTransposesWhatTheFileHas) {
  const std::string path = SaveBase("base.safetensors");
  ParameterMap map;
  map.tensors["base.weight"] = {"base.weight", /*transposed=*/true};
  auto reader = WeightReader::Open(Plan(true), path, map);
  ASSERT_THAT(reader, IsOk());
  const TensorType weight = {{3, 3}};
  std::vector<float> values(9);
  const std::vector<StepData::Slot> slots = {
      {{Role::kWeight, 0}, false, true, &weight, values.data()}};
  ASSERT_THAT((*reader)->Read(0, slots), IsOk());
  EXPECT_EQ(values[1], 0.5f);
  EXPECT_EQ(values[3], 0.25f);
  map.tensors["base.weight"].name = "body.weight";
  EXPECT_THAT(WeightReader::Open(Plan(true), path, map),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(path), HasSubstr("body.weight"))));
}

uint64_t ReadFingerprint(const std::string& path,
                         const ParameterMap& map = {}) {
  const auto reader = WeightReader::Open(Plan(true), path, map);
  EXPECT_THAT(reader, IsOk());
  return (*reader)->fingerprint();
}

TEST(WeightReaderTest, TheFingerprintTellsWeightsAndLayoutsApart) {
  const std::string path = SaveBase("base.safetensors");
  const uint64_t base = ReadFingerprint(path);
  EXPECT_EQ(ReadFingerprint(SaveBase("copy.safetensors")), base);
  // An inference reads the same weights by other steps.
  const auto inference =
      WeightReader::Open(Plan(true, NetworkMode::kInference), path, {});
  ASSERT_THAT(inference, IsOk());
  EXPECT_EQ((*inference)->fingerprint(), base);
  // The matrix is square, so the file fits either way.
  ParameterMap map;
  map.tensors["base.weight"] = {"base.weight", /*transposed=*/true};
  EXPECT_NE(ReadFingerprint(path, map), base);
  const auto parameters = *Parameters::Create(Plan(false), 1);
  ASSERT_THAT(LoadParameters(path, parameters.get()), IsOk());
  (*parameters->Find("base.bias"))[2] += 1;
  const std::string changed = TestPath("changed.safetensors");
  ASSERT_THAT(SaveParameters(*parameters, changed), IsOk());
  EXPECT_NE(ReadFingerprint(changed), base);
}

TEST(WeightReaderTest, ABiasThatTheNetworkLacksIsRefused) {
  Network network;
  network.AddInput("rows", {{2, 3}});
  network.AddLayer("base", FullyConnected(3, /*bias=*/false), {"rows"});
  network.AddLayer("head", FullyConnected(1), {"base"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  network.Freeze("base.*");
  MemoryOptions options;
  options.read_frozen_weights = true;
  const auto plan = PlanExecution(network, NetworkMode::kTraining, options);
  ASSERT_THAT(plan, IsOk());
  const std::string path = SaveBase("base.safetensors");
  EXPECT_THAT(WeightReader::Open(*plan, path, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(path), HasSubstr("has \"base.bias\""))));
  // The head's bias is no part of the base.
  const auto parameters = *Parameters::Create(
      *PlanExecution(network, NetworkMode::kTraining, {}), 1);
  const std::string unbiased = TestPath("unbiased.safetensors");
  ASSERT_THAT(SaveParameters(*parameters, unbiased), IsOk());
  EXPECT_THAT(WeightReader::Open(*plan, unbiased, {}), IsOk());
}

TEST(WeightReaderTest, TheFingerprintCoversAllOfALargeTensor) {
  const auto fingerprint = [](size_t changed) {
    Network network;
    network.AddInput("rows", {{2, 300}});
    network.AddLayer("base", FullyConnected(200, /*bias=*/false), {"rows"});
    network.AddLayer("head", FullyConnected(1), {"base"});
    network.AddLayer("loss", MeanSquaredError(), {"head"});
    const auto whole = PlanExecution(network, NetworkMode::kTraining, {});
    const auto parameters = *Parameters::Create(*whole, 1);
    (*parameters->Find("base.weight"))[changed] = 7;
    const std::string path = TestPath("large.safetensors");
    EXPECT_THAT(SaveParameters(*parameters, path), IsOk());
    network.Freeze("base.*");
    MemoryOptions options;
    options.read_frozen_weights = true;
    const auto plan = PlanExecution(network, NetworkMode::kTraining, options);
    return (*WeightReader::Open(*plan, path, {}))->fingerprint();
  };
  std::set<uint64_t> different;
  for (const size_t changed : {0, 16383, 16384, 59999}) {
    different.insert(fingerprint(changed));
  }
  EXPECT_EQ(different.size(), 4u);
}

TEST(WeightReaderTest, AManagerNeedsTheFile) {
  ManagerOptions options;
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("ManagerOptions::weights_file")));
  options.weights_file = TestPath("none.safetensors");
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  options.weights_file = WriteTestFile("text.safetensors", "no weights at all");
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("text")));
}

TEST(WeightReaderTest, AFileThatNothingReadsIsRefused) {
  const ExecutionPlan plan = Plan(false);
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  options.weights_file = SaveBase("base.safetensors");
  EXPECT_THAT(Manager::Create(plan, *Parameters::Create(plan, 1), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MemoryOptions::read_frozen_weights")));
}

TEST(WeightReaderTest, NaNIsRefusedBeforeTheFirstStep) {
  const auto parameters = *Parameters::Create(Plan(false), 1);
  ManagerOptions options;
  options.weights_file = TestPath("nan.safetensors");
  ASSERT_THAT(SaveParameters(*parameters, options.weights_file), IsOk());
  OverwriteValue(options.weights_file, "base.bias", 2, std::nanf(""));
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("base.bias"), HasSubstr("at index 2"))));
}

TEST(WeightReaderTest, AFileOfAnotherModelIsRefused) {
  Network other;
  other.AddInput("rows", {{2, 5}});
  other.AddLayer("base", FullyConnected(3), {"rows"});
  other.AddLayer("loss", MeanSquaredError(), {"base"});
  const auto plan = PlanExecution(other, NetworkMode::kTraining, {});
  ManagerOptions options;
  options.weights_file = TestPath("other.safetensors");
  ASSERT_THAT(
      SaveParameters(**Parameters::Create(*plan, 1), options.weights_file),
      IsOk());
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("[5, 3]"), HasSubstr("[3, 3]"))));
}

// Reads the tiles of a matrix of 3 x 3 in both layouts.
TEST(WeightReaderTest, ReadsTilesOfAMatrix) {
  const std::string path = SaveBase("base.safetensors");
  ParameterMap transposed;
  transposed.tensors["base.weight"] = {"base.weight", /*transposed=*/true};
  for (const bool is_transposed : {false, true}) {
    auto reader = WeightReader::Open(
        Plan(true), path, is_transposed ? transposed : ParameterMap());
    ASSERT_THAT(reader, IsOk());
    for (int64_t begin = 0; begin < 3; ++begin) {
      for (int64_t end = begin + 1; end <= 3; ++end) {
        const MatrixTile tile = {begin, end};
        std::vector<float> values(static_cast<size_t>(3 * tile.count() + 1),
                                  -1);
        ASSERT_THAT((*reader)->ReadTile(0, tile, values.data()), IsOk());
        for (int64_t i = 0; i < 3 * tile.count(); ++i) {
          const int64_t row = i / tile.count();
          const int64_t column = begin + i % tile.count();
          EXPECT_EQ(values[static_cast<size_t>(i)],
                    0.125f * static_cast<float>(is_transposed
                                                    ? column * 3 + row + 1
                                                    : row * 3 + column + 1));
        }
        EXPECT_EQ(values.back(), -1);
      }
    }
    // The first tile is what the step before reads.
    const TensorType first_columns = {{3, 2}};
    std::vector<float> values(6, -1);
    ASSERT_THAT(
        (*reader)->Read(
            0,
            {{{Role::kWeight, 0}, false, true, &first_columns, values.data()}}),
        IsOk());
    EXPECT_EQ(values[2], is_transposed ? 0.25f : 0.5f);
  }
}

TEST(WeightReaderTest, AFileThatChangesBetweenTwoTilesEndsTheStep) {
  const std::string path = SaveBase("between.safetensors");
  auto reader = WeightReader::Open(Plan(true), path, {});
  ASSERT_THAT(reader, IsOk());
  std::vector<float> values(3);
  ASSERT_THAT((*reader)->ReadTile(0, {0, 1}, values.data()), IsOk());
  SaveBase("between.safetensors");
  EXPECT_THAT((*reader)->ReadTile(0, {1, 2}, values.data()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// A plan of its least budget runs by tiles of few columns.
ExecutionPlan TiledPlan() {
  MemoryOptions options;
  options.read_frozen_weights = true;
  options.budget_bytes = 1;
  const auto plan = [&options] {
    return PlanExecution(MakeNetwork(), NetworkMode::kTraining, options, 0,
                         ReferenceMath());
  };
  options.budget_bytes = LeastBudgetNamed(plan().status());
  const auto planned = plan();
  EXPECT_THAT(planned, IsOk());
  return *planned;
}

TEST(WeightReaderTest, FindsTheOperandOfEachTiledStep) {
  const ExecutionPlan plan = TiledPlan();
  const auto reader =
      WeightReader::Open(plan, SaveBase("base.safetensors"), {});
  ASSERT_THAT(reader, IsOk());
  // "base" and "again" each read a matrix and a bias.
  std::vector<size_t> operands;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const absl::optional<size_t> operand = (*reader)->FindTiles(s);
    const bool is_tiled = plan.steps[s].kind == StepKind::kForward &&
                          TileColumns(plan, plan.steps[s]) > 0;
    EXPECT_EQ(operand.has_value(), is_tiled) << s;
    if (operand.has_value()) operands.push_back(*operand);
  }
  EXPECT_EQ(operands, (std::vector<size_t>{0, 2}));
}

TEST(WeightReaderTest, AFileThatIsReplacedOrTruncatedEndsTheStep) {
  for (const bool truncates : {false, true}) {
    ManagerOptions options;
    options.weights_file = SaveBase("changed.safetensors");
    auto manager = MakeManager(options);
    ASSERT_THAT(manager, IsOk());
    ASSERT_THAT(Step(manager->get()), IsOk());
    if (truncates) {
      WriteTestFile("changed.safetensors", "short");
    } else {
      SaveBase("changed.safetensors");
    }
    const absl::Status status = Step(manager->get());
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 AllOf(HasSubstr("read weights"),
                                       HasSubstr("changed.safetensors"))));
    EXPECT_EQ((*manager)->iteration(), 1);
  }
}

TEST(WeightReaderTest, AnInferenceReadsTheSameWeights) {
  const std::string path = SaveBase("base.safetensors");
  const ExecutionPlan plan = Plan(true, NetworkMode::kInference);
  const auto parameters = *Parameters::Create(plan, 1);
  const auto all = *Parameters::Create(Plan(false), 1);
  ASSERT_THAT(LoadParameters(path, all.get()), IsOk());
  ParameterMap head;
  head.only = "*";
  ASSERT_THAT(LoadParameters(path, head, parameters.get()), IsOk());
  ManagerOptions options;
  options.weights_file = path;
  auto reads = Manager::Create(plan, parameters, options);
  auto resident =
      Manager::Create(Plan(false, NetworkMode::kInference), all, {});
  ASSERT_THAT(reads, IsOk());
  ASSERT_THAT(resident, IsOk());
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  ASSERT_THAT((*reads)->Infer({InputView(rows)}), IsOk());
  ASSERT_THAT((*resident)->Infer({InputView(rows)}), IsOk());
  EXPECT_EQ(*(*reads)->Output(), *(*resident)->Output());
}

// A frozen table of 7 rows below a trained head. Backward steps read the picked
// rows, too, so these are kept or picked again.
Network MakeTableNetwork() {
  Network network;
  network.AddInput("words", {{2, 4}, DType::kI32});
  network.AddLayer("table", Embedding(7, 3), {"words"});
  network.AddLayer("head", FullyConnected(3), {"table"});
  network.AddLayer("gate", Multiply(), {"head", "table"});
  network.AddLayer("loss", MeanSquaredError(), {"gate"});
  network.Freeze("table.*");
  return network;
}

// Trains three steps on drawn words, and returns the losses and the head.
std::vector<float> TrainOnTable(const MemoryOptions& memory,
                                ManagerOptions options,
                                ExecutionPlan* planned = nullptr) {
  const auto plan =
      PlanExecution(MakeTableNetwork(), NetworkMode::kTraining, memory);
  EXPECT_THAT(plan, IsOk());
  if (planned != nullptr) *planned = *plan;
  options.optimizer = StochasticGradientDescent(0.1f);
  const auto parameters = *Parameters::Create(*plan, 1);
  auto manager = Manager::Create(*plan, parameters, options);
  EXPECT_THAT(manager, IsOk());
  std::vector<float> values;
  for (int32_t step = 0; step < 3; ++step) {
    const auto words = (*manager)->InputValues<int32_t>(0);
    for (size_t i = 0; i < words->size(); ++i) {
      (*words)[i] = (static_cast<int32_t>(i) * 3 + step) % 7;
    }
    const auto labels = (*manager)->LabelValues();
    std::fill(labels->begin(), labels->end(), 0.25f);
    const auto loss = (*manager)->TrainStep();
    EXPECT_THAT(loss, IsOk());
    values.push_back(loss.value_or(-1));
  }
  for (const char* name : {"head.weight", "head.bias"}) {
    const auto head = *parameters->Find(name);
    values.insert(values.end(), head.begin(), head.end());
  }
  return values;
}

// Writes the initial values of the table, transposed if asked.
std::string SaveTable(const std::string& name, bool transposed) {
  const auto initial =
      PlanExecution(MakeTableNetwork(), NetworkMode::kTraining, {});
  const auto parameters = *Parameters::Create(*initial, 1);
  const absl::Span<const float> table = *parameters->Find("table.weight");
  Network network;
  network.AddInput("words", {{1, 1}, DType::kI32});
  network.AddLayer("table", transposed ? Embedding(3, 7) : Embedding(7, 3),
                   {"words"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  const auto saved = *Parameters::Create(*plan, 1);
  const absl::Span<float> values = *saved->Find("table.weight");
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = table[transposed ? i % 7 * 3 + i / 7 : i];
  }
  const std::string path = TestPath(name);
  EXPECT_THAT(SaveParameters(*saved, path), IsOk());
  return path;
}

TEST(WeightReaderTest, OfATableOnlyTheNamedRowsAreRead) {
  const std::vector<float> expected = TrainOnTable({}, {});
  MemoryOptions reading;
  reading.read_frozen_weights = true;
  for (const bool transposed : {false, true}) {
    for (const bool again : {false, true}) {
      reading.recompute_outputs = again;
      ManagerOptions options;
      options.weights_file = SaveTable("table.safetensors", transposed);
      options.weights_map.tensors["table.weight"] = {"table.weight",
                                                     transposed};
      options.poison = again;
      ExecutionPlan plan;
      EXPECT_EQ(TrainOnTable(reading, options, &plan), expected);
      EXPECT_EQ(plan.weight_bytes_read_per_iteration(),
                (again ? 2 : 1) * 2 * 4 * 3 * 4);
      for (const PlannedTensor& tensor : plan.tensors) {
        EXPECT_NE(tensor.kind, TensorKind::kReadWeight) << tensor.name;
      }
    }
  }
}

TEST(WeightReaderTest, AnIndexBeyondTheTableIsAnError) {
  MemoryOptions reading;
  reading.read_frozen_weights = true;
  const auto plan =
      PlanExecution(MakeTableNetwork(), NetworkMode::kTraining, reading);
  ASSERT_THAT(plan, IsOk());
  for (const bool transposed : {false, true}) {
    ManagerOptions options;
    options.weights_file = SaveTable("table.safetensors", transposed);
    options.weights_map.tensors["table.weight"] = {"table.weight", transposed};
    options.optimizer = StochasticGradientDescent(0.1f);
    auto manager =
        Manager::Create(*plan, *Parameters::Create(*plan, 1), options);
    ASSERT_THAT(manager, IsOk());
    const auto labels = (*manager)->LabelValues();
    std::fill(labels->begin(), labels->end(), 0.25f);
    for (const int32_t wrong : {7, -1}) {
      const auto words = (*manager)->InputValues<int32_t>(0);
      std::fill(words->begin(), words->end(), 6);
      (*words)[5] = wrong;
      EXPECT_THAT(
          (*manager)->TrainStep().status(),
          StatusIs(
              absl::StatusCode::kOutOfRange,
              HasSubstr(absl::StrCat(
                  "layer \"table\", read rows: the value ", wrong,
                  " at index 5 is not an index of the table's 7 entries"))));
    }
  }
}

}  // namespace
}  // namespace footprint
