#include "footprint/trainer_manager/training/batch_read_ahead.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kPlanned = 4;

// A manager whose batches have 4 rows of one feature.
struct Training {
  explicit Training(int64_t micro_batches = 1) {
    SoftmaxOptions loss;
    loss.ignored_label = -1;
    Network network;
    network.AddInput("rows", {{kPlanned, 1}});
    network.AddLayer("fc", FullyConnected(100), {"rows"});
    network.AddLayer("loss", SoftmaxCrossEntropy(loss), {"fc"});
    MemoryOptions memory;
    memory.micro_batches = micro_batches;
    plan = *PlanExecution(network, NetworkMode::kTraining, memory);
    ManagerOptions options;
    options.optimizer = StochasticGradientDescent(0.1f);
    manager = *Manager::Create(plan, *Parameters::Create(plan, 1), options);
  }

  BatchLoader Load(const DataSet& data) const {
    LoaderOptions options;
    options.seed = 3;
    const auto loader = BatchLoader::Create(plan, data, options);
    EXPECT_THAT(loader, IsOk());
    return *loader;
  }

  // Returns the manager's values: the features, then the labels.
  std::vector<float> Values() const {
    const absl::Span<float> rows = *manager->InputValues(0);
    const absl::Span<int32_t> labels = *manager->LabelValues<int32_t>();
    std::vector<float> values(rows.begin(), rows.end());
    values.insert(values.end(), labels.begin(), labels.end());
    return values;
  }

  ExecutionPlan plan;
  std::unique_ptr<Manager> manager;
};

absl::Status WriteRow(int64_t row, absl::Span<const DataSet::Part> parts) {
  parts[0].Floats()[0] = static_cast<float>(row) + 0.5f;
  parts[1].Indices()[0] = static_cast<int32_t>(row);
  return absl::OkStatus();
}

TEST(BatchReadAheadTest, TheManagerGetsTheLoadersValues) {
  for (const int64_t micro_batches : {1, 2}) {
    Training training(micro_batches);
    // The last batch of an epoch is short.
    BatchLoader loader = training.Load(DataSet::ReadBy(10, WriteRow));
    BatchReadAhead batches(training.plan, loader, 6);
    for (const int64_t step : {0, 1, 2, 3, 4, 5, 2, 4, 5, 0}) {
      ASSERT_THAT(batches.Fill(step, training.manager.get()), IsOk());
      const std::vector<float> values = training.Values();
      ASSERT_THAT(loader.Fill(step, training.manager.get()), IsOk());
      EXPECT_EQ(values, training.Values()) << step << " " << micro_batches;
    }
  }
}

TEST(BatchReadAheadTest, TheNextStepsRowsAreReadInAnotherThread) {
  Training training;
  const std::thread::id caller = std::this_thread::get_id();
  std::promise<void> second_batch_begun;
  std::atomic<int> read = 0;
  const DataSet data = DataSet::ReadBy(8, [&](int64_t row, auto parts) {
    EXPECT_NE(std::this_thread::get_id(), caller);
    if (++read == kPlanned + 1) second_batch_begun.set_value();
    return WriteRow(row, parts);
  });
  BatchReadAhead batches(training.plan, training.Load(data), 2);
  ASSERT_THAT(batches.Fill(0, training.manager.get()), IsOk());
  // Nobody has asked for the second batch yet.
  EXPECT_EQ(second_batch_begun.get_future().wait_for(std::chrono::minutes(1)),
            std::future_status::ready);
  EXPECT_THAT(batches.Fill(1, training.manager.get()), IsOk());
}

TEST(BatchReadAheadTest, NothingIsReadBehindTheLastStep) {
  Training training;
  std::vector<int64_t> rows;
  const DataSet data = DataSet::ReadBy(8, [&](int64_t row, auto parts) {
    rows.push_back(row);
    return WriteRow(row, parts);
  });
  {
    BatchReadAhead batches(training.plan, training.Load(data), 2);
    ASSERT_THAT(batches.Fill(0, training.manager.get()), IsOk());
    ASSERT_THAT(batches.Fill(1, training.manager.get()), IsOk());
  }
  EXPECT_EQ(rows.size(), 8u);
}

TEST(BatchReadAheadTest, TheDestructorWaitsForTheBatchThatIsBeingRead) {
  Training training;
  std::atomic<int> read = 0;
  const DataSet data = DataSet::ReadBy(8, [&](int64_t row, auto parts) {
    if (read >= kPlanned) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ++read;
    return WriteRow(row, parts);
  });
  {
    BatchReadAhead batches(training.plan, training.Load(data), 2);
    ASSERT_THAT(batches.Fill(0, training.manager.get()), IsOk());
  }
  EXPECT_EQ(read, 2 * kPlanned);
}

TEST(BatchReadAheadTest, AnErrorComesInTheStepWhoseRowsCouldNotBeRead) {
  Training training;
  bool is_broken = true;
  std::atomic<int> read = 0;
  const DataSet data = DataSet::ReadBy(8, [&](int64_t row, auto parts) {
    if (++read > kPlanned && is_broken) {
      return absl::DataLossError("this picture is cut off");
    }
    return WriteRow(row, parts);
  });
  BatchReadAhead batches(training.plan, training.Load(data), 2);
  EXPECT_THAT(batches.Fill(0, training.manager.get()), IsOk());
  EXPECT_THAT(batches.Fill(1, training.manager.get()),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("this picture is cut off")));
  // A step that failed can be repeated.
  is_broken = false;
  EXPECT_THAT(batches.Fill(1, training.manager.get()), IsOk());
}

}  // namespace
}  // namespace footprint
