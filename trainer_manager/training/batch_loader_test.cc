#include "footprint/trainer_manager/training/batch_loader.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
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
using testing::Not;

constexpr int32_t kIgnored = -100;

// Returns a network for rows of one feature, of 100 classes.
Network OneFeature(int64_t batch, bool ignores = true, bool norm = false) {
  SoftmaxOptions options;
  if (ignores) options.ignored_label = kIgnored;
  Network network;
  network.AddInput("rows", {{batch, 1}});
  network.AddLayer("fc", FullyConnected(100), {"rows"});
  if (norm) network.AddLayer("norm", BatchNormalization(), {"fc"});
  network.AddLayer("loss", SoftmaxCrossEntropy(options),
                   {norm ? "norm" : "fc"});
  return network;
}

ExecutionPlan Plan(const Network& network, int64_t micro_batches = 1) {
  MemoryOptions options;
  options.micro_batches = micro_batches;
  const auto plan = PlanExecution(network, NetworkMode::kTraining, options);
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

// Row i has the feature i + 0.5 and the label i.
struct Rows {
  explicit Rows(size_t count) : features(count), labels(count) {
    std::iota(features.begin(), features.end(), 0.5f);
    std::iota(labels.begin(), labels.end(), 0);
  }
  DataSet data() const {
    return DataSet::InMemory({absl::MakeConstSpan(features)},
                             absl::MakeConstSpan(labels),
                             static_cast<int64_t>(labels.size()));
  }
  std::vector<float> features;
  std::vector<int32_t> labels;
};

// Returns the labels of a batch of the loader, and checks its features.
std::vector<int32_t> BatchAt(BatchLoader* loader, int64_t step,
                             size_t planned) {
  std::vector<float> features(planned, -1);
  std::vector<int32_t> labels(planned, -1);
  const DataSet::Part parts[] = {{features.data(), planned, DType::kF32},
                                 {labels.data(), planned, DType::kI32}};
  EXPECT_THAT(loader->FillParts(step, parts), IsOk());
  for (size_t i = 0; i < planned; ++i) {
    const bool ignored = labels[i] == kIgnored;
    EXPECT_EQ(features[i],
              ignored ? features[0] : static_cast<float>(labels[i]) + 0.5f);
  }
  return labels;
}

std::string Refusal(const ExecutionPlan& plan, const DataSet& data,
                    const LoaderOptions& options = {}) {
  const auto loader = BatchLoader::Create(plan, data, options);
  EXPECT_THAT(loader.status(), StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(loader.status().message());
}

TEST(BatchLoaderTest, InOrderAndTheLastBatchIsShort) {
  const Rows rows(10);
  LoaderOptions options;
  options.shuffle = false;
  auto loader = BatchLoader::Create(Plan(OneFeature(4)), rows.data(), options);
  ASSERT_THAT(loader, IsOk());
  EXPECT_EQ(loader->batches(), 3);
  EXPECT_EQ(loader->RowsOf(1), 4);
  EXPECT_EQ(loader->RowsOf(2), 2);
  EXPECT_THAT(BatchAt(&*loader, 0, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(BatchAt(&*loader, 5, 4), ElementsAre(8, 9, kIgnored, kIgnored));
  EXPECT_THAT(BatchAt(&*loader, 3, 4), ElementsAre(0, 1, 2, 3));
}

// Each epoch has each row once, in its own order that follows from the seed,
// even if the epoch is asked for first.
TEST(BatchLoaderTest, AnEpochIsAShuffleOfAllRows) {
  const Rows rows(23);
  const ExecutionPlan plan = Plan(OneFeature(4));
  std::vector<std::vector<int32_t>> epochs;
  auto loader = BatchLoader::Create(plan, rows.data(), {/*seed=*/3});
  ASSERT_THAT(loader, IsOk());
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<int32_t> labels;
    for (int64_t b = 0; b < 6; ++b) {
      for (const int32_t label : BatchAt(&*loader, epoch * 6 + b, 4)) {
        if (label != kIgnored) labels.push_back(label);
      }
    }
    std::vector<int32_t> sorted = labels;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, rows.labels);
    EXPECT_EQ(std::count(epochs.begin(), epochs.end(), labels), 0);
    epochs.push_back(labels);
  }
  auto later = BatchLoader::Create(plan, rows.data(), {/*seed=*/3});
  ASSERT_THAT(later, IsOk());
  EXPECT_EQ(BatchAt(&*later, 4 * 6 + 1, 4),
            std::vector<int32_t>(epochs[4].begin() + 4, epochs[4].begin() + 8));
  auto other = BatchLoader::Create(plan, rows.data(), {/*seed=*/4});
  ASSERT_THAT(other, IsOk());
  EXPECT_NE(BatchAt(&*other, 0, 4),
            std::vector<int32_t>(epochs[0].begin(), epochs[0].begin() + 4));
}

TEST(BatchLoaderTest, AFunctionGivesTheSameBatches) {
  const Rows rows(10);
  const ExecutionPlan plan = Plan(OneFeature(4));
  auto in_memory = BatchLoader::Create(plan, rows.data());
  auto read = BatchLoader::Create(
      plan, DataSet::ReadBy(
                10, [&](int64_t row, absl::Span<const DataSet::Part> parts) {
                  const size_t i = static_cast<size_t>(row);
                  parts[0].Floats()[0] = rows.features[i];
                  parts[1].Indices()[0] = rows.labels[i];
                  return absl::OkStatus();
                }));
  ASSERT_THAT(in_memory, IsOk());
  ASSERT_THAT(read, IsOk());
  for (int64_t step = 0; step < 6; ++step) {
    EXPECT_EQ(BatchAt(&*in_memory, step, 4), BatchAt(&*read, step, 4));
  }
}

TEST(BatchLoaderTest, RowsAreSpreadOverMicroBatches) {
  const Rows rows(13);
  LoaderOptions options;
  options.shuffle = false;
  auto loader =
      BatchLoader::Create(Plan(OneFeature(8), 4), rows.data(), options);
  ASSERT_THAT(loader, IsOk());
  EXPECT_THAT(BatchAt(&*loader, 0, 8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(BatchAt(&*loader, 1, 8),
              ElementsAre(8, 9, 10, kIgnored, 11, kIgnored, 12, kIgnored));
}

TEST(BatchLoaderTest, FillsTheManagersBatchInPlace) {
  const Rows rows(6);
  const ExecutionPlan plan = Plan(OneFeature(4));
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  const auto manager =
      Manager::Create(plan, *Parameters::Create(plan, 1), options);
  ASSERT_THAT(manager, IsOk());
  LoaderOptions in_order;
  in_order.shuffle = false;
  auto loader = BatchLoader::Create(plan, rows.data(), in_order);
  ASSERT_THAT(loader, IsOk());
  ASSERT_THAT(loader->Fill(1, manager->get()), IsOk());
  EXPECT_THAT(*(*manager)->InputValues(0), ElementsAre(4.5f, 5.5f, 4.5f, 4.5f));
  EXPECT_THAT(*(*manager)->LabelValues<int32_t>(),
              ElementsAre(4, 5, kIgnored, kIgnored));
  EXPECT_THAT((*manager)->TrainStep(), IsOk());
}

TEST(BatchLoaderTest, DropLastLeavesOutTheRest) {
  const Rows rows(10);
  LoaderOptions options;
  options.drop_last = true;
  const auto loader = BatchLoader::Create(
      Plan(OneFeature(4, /*ignores=*/false)), rows.data(), options);
  ASSERT_THAT(loader, IsOk());
  EXPECT_EQ(loader->batches(), 2);
  EXPECT_EQ(loader->RowsOf(1), 4);
}

TEST(BatchLoaderTest, AShortBatchThatWouldNotBeExactIsRefused) {
  const Rows rows(10);
  EXPECT_THAT(Refusal(Plan(OneFeature(4, /*ignores=*/false)), rows.data()),
              HasSubstr("the last batch has 2 rows of 4, but the loss \"loss\" "
                        "ignores no label"));
  EXPECT_THAT(Refusal(Plan(OneFeature(4, true, /*norm=*/true)), rows.data()),
              HasSubstr("layer \"norm\" takes statistics of the whole batch"));
  EXPECT_THAT(Refusal(Plan(OneFeature(8), 4), rows.data()),
              HasSubstr("has 2 rows of 8, but there are 4 micro-batches"));
  Network frozen = OneFeature(4, true, /*norm=*/true);
  frozen.Freeze("norm.*");
  EXPECT_THAT(BatchLoader::Create(Plan(frozen), rows.data()), IsOk());
}

TEST(BatchLoaderTest, ADataSetSmallerThanABatch) {
  const Rows rows(3);
  EXPECT_THAT(BatchLoader::Create(Plan(OneFeature(4)), rows.data()), IsOk());
  LoaderOptions options;
  options.drop_last = true;
  EXPECT_THAT(Refusal(Plan(OneFeature(4)), rows.data(), options),
              HasSubstr("has 3 rows, fewer than a batch of 4"));
}

// An evaluation cannot leave rows out, so its message has another remedy.
TEST(BatchLoaderTest, AnEvaluationIsNotToldToDropRows) {
  const Rows rows(10);
  MemoryOptions memory;
  memory.keep_loss = true;
  const auto plan = PlanExecution(OneFeature(4, /*ignores=*/false),
                                  NetworkMode::kInference, memory);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(Refusal(*plan, rows.data()),
              HasSubstr("give it an ignored_label, or give it rows that "
                        "batches of 4 divide"));
}

TEST(BatchLoaderTest, AsManyRowsAsCanBeCounted) {
  const auto loader = BatchLoader::Create(
      Plan(OneFeature(4)),
      DataSet::ReadBy(std::numeric_limits<int64_t>::max(),
                      [](int64_t, absl::Span<const DataSet::Part>) {
                        return absl::OkStatus();
                      }));
  ASSERT_THAT(loader, IsOk());
  EXPECT_EQ(loader->batches(), int64_t{1} << 61);
  EXPECT_EQ(loader->RowsOf(loader->batches() - 1), 3);
}

TEST(BatchLoaderTest, RowsOfABatchAreNamed) {
  const Rows rows(6);
  LoaderOptions options;
  options.shuffle = false;
  auto loader = BatchLoader::Create(Plan(OneFeature(4)), rows.data(), options);
  ASSERT_THAT(loader, IsOk());
  EXPECT_EQ(loader->DescribeRows(1), "rows 4 to 5 of the data set");
  EXPECT_EQ(loader->DescribeRows(2), "rows 0 to 3 of the data set");
  auto shuffled = BatchLoader::Create(Plan(OneFeature(4)), rows.data());
  ASSERT_THAT(shuffled, IsOk());
  std::vector<int> found;
  for (const int64_t step : {0, 1}) {
    const std::string text = shuffled->DescribeRows(step);
    for (const char c : text) {
      if (c >= '0' && c <= '9') found.push_back(c - '0');
    }
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(BatchLoaderTest, APlanWithoutALossIsRefused) {
  const Rows rows(3);
  const auto plan =
      PlanExecution(OneFeature(4), NetworkMode::kInference, MemoryOptions());
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(Refusal(*plan, rows.data()), HasSubstr("keep_loss"));
}

}  // namespace
}  // namespace footprint
