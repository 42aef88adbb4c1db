#include "footprint/trainer_manager/execution/storage_sharing.h"

#include <cstdint>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Tensor i is written by step i and last read by step i + 1. A step may write
// in place.
StepGraph Chain(size_t length, bool same_bytes = false) {
  StepGraph graph;
  for (size_t t = 0; t < length; ++t) {
    PlannedTensor tensor;
    tensor.size_bytes = 8;
    tensor.lower_step = static_cast<int64_t>(t);
    tensor.upper_step = static_cast<int64_t>(t) + 2;
    graph.tensors.push_back(tensor);
    PlannedStep step;
    step.uses = {{{Role::kOutput}, t, false, true}};
    if (t > 0) step.uses.push_back({{Role::kInput}, t - 1, true, false});
    step.in_place = {{{Role::kOutput}, {Role::kInput}, same_bytes}};
    graph.steps.push_back(step);
  }
  return graph;
}

size_t CountStorages(const StepGraph& graph, bool in_place = true) {
  MemoryOptions options;
  options.in_place = in_place;
  const auto assigned = AssignStorages(graph, options);
  EXPECT_THAT(assigned, IsOk());
  return assigned->storages.size();
}

TEST(StorageSharingTest, AChainLiesAtOnePlaceUnlessThatIsOff) {
  EXPECT_EQ(CountStorages(Chain(4)), 1u);
  EXPECT_EQ(CountStorages(Chain(4), false), 4u);
}

TEST(StorageSharingTest, WhatIsReadLaterIsNotWrittenOver) {
  StepGraph graph = Chain(3);
  graph.tensors[0].upper_step = 3;
  EXPECT_EQ(CountStorages(graph), 2u);
  graph.tensors[0].upper_step = 2;
  graph.tensors[0].is_retained = true;
  EXPECT_EQ(CountStorages(graph), 2u);
  StepGraph same = Chain(3, /*same_bytes=*/true);
  same.tensors[0].upper_step = 3;
  EXPECT_EQ(CountStorages(same), 1u);
}

TEST(StorageSharingTest, OtherSizesDoNotShare) {
  StepGraph graph = Chain(3);
  graph.tensors[1].size_bytes = 4;
  EXPECT_EQ(CountStorages(graph), 3u);
}

TEST(StorageSharingTest, AnotherOperandOfTheStepIsNotWrittenOver) {
  StepGraph graph = Chain(2);
  graph.steps[1].uses.push_back({{Role::kSaved}, 0, true, false});
  EXPECT_EQ(CountStorages(graph), 2u);
}

TEST(StorageSharingTest, ASharedStorageLivesAsLongAsAllOfItsTensors) {
  const auto graph = AssignStorages(Chain(3), {});
  ASSERT_THAT(graph, IsOk());
  EXPECT_EQ(graph->storages[0].lower_step, 0);
  EXPECT_EQ(graph->storages[0].upper_step, 4);
  EXPECT_EQ(graph->storages[0].tensors.size(), 3u);
}

TEST(StorageSharingTest, WhatOutlivesTheArenaLiesSideBySide) {
  StepGraph graph = Chain(3);
  graph.mode = NetworkMode::kTraining;
  graph.tensors[0].kind = TensorKind::kInput;
  graph.tensors[1].kind = TensorKind::kLabel;
  graph.tensors[2].kind = TensorKind::kWeight;
  MemoryOptions options;
  options.alignment_bytes = 64;
  const auto assigned = AssignStorages(graph, options);
  ASSERT_THAT(assigned, IsOk());
  EXPECT_EQ(assigned->fixed_bytes, 64 + 8);
  EXPECT_EQ(assigned->model_bytes, 8);
}

// The first micro-batch makes the copy for the last; without micro-batches it
// lives only until the loss.
TEST(StorageSharingTest, CopiesOfStatisticsOutliveAMicroBatch) {
  for (const int64_t parts : {1, 2}) {
    StepGraph graph = Chain(1);
    graph.micro_batches = parts;
    graph.tensors[0].kind = TensorKind::kStatisticCopy;
    const auto assigned = AssignStorages(graph, {});
    ASSERT_THAT(assigned, IsOk());
    EXPECT_EQ(assigned->storages[0].storage_class,
              parts == 1 ? StorageClass::kArena : StorageClass::kFixed);
  }
}

TEST(StorageSharingTest, RefusesMoreBytesThanItCanCount) {
  StepGraph graph = Chain(3);
  for (PlannedTensor& tensor : graph.tensors) {
    tensor.kind = TensorKind::kWeight;
    tensor.size_bytes = INT64_MAX / 4;
  }
  EXPECT_THAT(AssignStorages(graph, {}),
              StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace footprint
