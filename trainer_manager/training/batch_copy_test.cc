#include "footprint/trainer_manager/training/batch_copy.h"

#include <utility>

#include "footprint/base/tensor/dtype.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns the plan of a training on batches of 6 rows with 5 features.
ExecutionPlan Plan(int64_t micro_batches) {
  Network network;
  network.AddInput("rows", {{6, 5}});
  network.AddLayer("fc", FullyConnected(3), {"rows"});
  network.AddLayer("loss", SoftmaxCrossEntropy(), {"fc"});
  MemoryOptions options;
  options.micro_batches = micro_batches;
  const auto plan = PlanExecution(network, NetworkMode::kTraining, options);
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

TEST(BatchCopyTest, APartHoldsTheValuesOfAllMicroBatches) {
  for (const int64_t micro_batches : {1, 2, 3}) {
    const BatchCopy batch(Plan(micro_batches));
    ASSERT_EQ(batch.size(), 2u);
    EXPECT_EQ(batch.parts()[0].size, 30u) << micro_batches;
    EXPECT_EQ(batch.parts()[0].type, DType::kF32);
    EXPECT_EQ(batch.parts()[1].size, 6u) << micro_batches;
    EXPECT_EQ(batch.parts()[1].type, DType::kI32);
  }
}

TEST(BatchCopyTest, ViewsAreOfThePartsAndStayAfterAMove) {
  BatchCopy batch(Plan(1));
  const DataSet::Part rows = batch.parts()[0];
  const DataSet::Part labels = batch.parts()[1];
  rows.Floats()[29] = 1.5f;
  labels.Indices()[5] = 2;
  const BatchCopy moved = std::move(batch);
  EXPECT_EQ(moved.View(0).data(), rows.data);
  EXPECT_EQ(moved.View(0).size(), 30u);
  EXPECT_EQ(moved.View(0).type(), DType::kF32);
  EXPECT_EQ(moved.View(1).data(), labels.data);
  EXPECT_EQ(moved.View(1).size(), 6u);
  EXPECT_EQ(moved.View(1).type(), DType::kI32);
  EXPECT_EQ(static_cast<const int32_t*>(moved.View(1).data())[5], 2);
}

}  // namespace
}  // namespace footprint
