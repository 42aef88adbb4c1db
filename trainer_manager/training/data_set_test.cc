#include "footprint/trainer_manager/training/data_set.h"

#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Plans batches of four rows of two features, of three classes.
ExecutionPlan Plan(int64_t micro_batches = 1) {
  Network network;
  network.AddInput("rows", {{4, 2}});
  network.AddLayer("fc", FullyConnected(3), {"rows"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"fc"});
  MemoryOptions options;
  options.micro_batches = micro_batches;
  const auto plan = PlanExecution(network, NetworkMode::kTraining, options);
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

const std::vector<float>& Features() {
  static const auto* features = new std::vector<float>{0, 1, 10, 11, 20, 21};
  return *features;
}
const std::vector<int32_t>& Labels() {
  static const auto* labels = new std::vector<int32_t>{2, 0, 1};
  return *labels;
}

DataSet ThreeRows() {
  return DataSet::InMemory({absl::MakeConstSpan(Features())},
                           absl::MakeConstSpan(Labels()), 3);
}

std::string Refusal(const DataSet& data) {
  const absl::Status status = data.CheckFits(Plan());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

TEST(DataSetTest, RowsInMemoryAreCopiedToTheirPlaces) {
  const DataSet data = ThreeRows();
  ASSERT_THAT(data.CheckFits(Plan()), IsOk());
  std::vector<float> features(2);
  std::vector<int32_t> label(1);
  const DataSet::Part parts[] = {{features.data(), 2, DType::kF32},
                                 {label.data(), 1, DType::kI32}};
  ASSERT_THAT(data.Read(1, parts), IsOk());
  EXPECT_THAT(features, ElementsAre(10, 11));
  EXPECT_THAT(label, ElementsAre(0));
  const InputView view = data.View(0, 1, 2);
  EXPECT_EQ(view.data(), Features().data() + 2);
  EXPECT_EQ(view.size(), 4u);
  EXPECT_EQ(data.View(1, 2, 1).type(), DType::kI32);
}

TEST(DataSetTest, AFunctionWritesRows) {
  const DataSet data = DataSet::ReadBy(
      5, [](int64_t row, absl::Span<const DataSet::Part> parts) {
        if (row == 4) return absl::NotFoundError("no such file");
        parts[0].Floats()[1] = static_cast<float>(row);
        parts[1].Indices()[0] = 7;
        return absl::OkStatus();
      });
  EXPECT_THAT(data.CheckFits(Plan()), IsOk());
  EXPECT_FALSE(data.is_in_memory());
  std::vector<float> features(2);
  std::vector<int32_t> label(1);
  const DataSet::Part parts[] = {{features.data(), 2, DType::kF32},
                                 {label.data(), 1, DType::kI32}};
  ASSERT_THAT(data.Read(3, parts), IsOk());
  EXPECT_THAT(features, ElementsAre(0, 3));
  EXPECT_THAT(label, ElementsAre(7));
  const absl::Status status = data.Read(4, parts);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(status.message(), "row 4 of the data set: no such file");
}

TEST(DataSetTest, AFunctionThatIsNoneIsRefused) {
  EXPECT_THAT(
      std::string(DataSet::ReadBy(5, nullptr).CheckFits(Plan()).message()),
      testing::HasSubstr("give ReadBy a function"));
}

TEST(DataSetTest, APartHasValuesOfItsTypeAlone) {
  std::vector<float> values(2);
  const DataSet::Part part = {values.data(), 2, DType::kF32};
  EXPECT_EQ(part.Floats().size(), 2u);
  EXPECT_THAT(part.Indices(), IsEmpty());
}

TEST(DataSetTest, ABatchIsOfAllMicroBatches) {
  EXPECT_EQ(PlannedRows(Plan()), 4);
  EXPECT_EQ(PlannedRows(Plan(2)), 4);
  EXPECT_THAT(ThreeRows().CheckFits(Plan(2)), IsOk());
}

TEST(DataSetTest, RowsThatDoNotFitAreRefused) {
  const auto features = absl::MakeConstSpan(Features());
  const auto labels = absl::MakeConstSpan(Labels());
  EXPECT_THAT(Refusal(DataSet::InMemory({features}, labels, 0)),
              HasSubstr("has 0 rows"));
  EXPECT_THAT(Refusal(DataSet::InMemory({features, features}, labels, 3)),
              HasSubstr("has 2 inputs, but the network has 1"));
  EXPECT_THAT(Refusal(DataSet::InMemory({features}, labels, 2)),
              HasSubstr("the data set's input 0 takes 4 F32 values"));
  EXPECT_THAT(Refusal(DataSet::InMemory({features.subspan(0, 4)}, labels, 2)),
              HasSubstr("the data set's label 0 takes 2 I32 values"));
  EXPECT_THAT(Refusal(DataSet::InMemory({features}, features.subspan(0, 3), 3)),
              HasSubstr("the data set's label 0 takes 3 I32 values"));
  EXPECT_THAT(Refusal(DataSet::InMemory({labels}, labels, 3)),
              HasSubstr("the data set's input 0 takes 6 F32 values"));
}

}  // namespace
}  // namespace footprint
