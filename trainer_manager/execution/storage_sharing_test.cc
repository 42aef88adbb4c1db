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
ExecutionPlan Chain(size_t length, bool same_bytes = false) {
  ExecutionPlan plan;
  for (size_t t = 0; t < length; ++t) {
    PlannedTensor tensor;
    tensor.size_bytes = 8;
    tensor.lower_step = static_cast<int64_t>(t);
    tensor.upper_step = static_cast<int64_t>(t) + 2;
    plan.tensors.push_back(tensor);
    PlannedStep step;
    step.uses = {{{Role::kOutput}, t, false, true}};
    if (t > 0) step.uses.push_back({{Role::kInput}, t - 1, true, false});
    step.in_place = {{{Role::kOutput}, {Role::kInput}, same_bytes}};
    plan.steps.push_back(step);
  }
  return plan;
}

size_t CountStorages(ExecutionPlan plan, bool in_place = true) {
  MemoryOptions options;
  options.in_place = in_place;
  EXPECT_THAT(AssignStorages(options, &plan), IsOk());
  return plan.storages.size();
}

TEST(StorageSharingTest, AChainLiesAtOnePlaceUnlessThatIsOff) {
  EXPECT_EQ(CountStorages(Chain(4)), 1u);
  EXPECT_EQ(CountStorages(Chain(4), false), 4u);
}

TEST(StorageSharingTest, WhatIsReadLaterIsNotWrittenOver) {
  ExecutionPlan plan = Chain(3);
  plan.tensors[0].upper_step = 3;
  EXPECT_EQ(CountStorages(plan), 2u);
  plan.tensors[0].upper_step = 2;
  plan.tensors[0].is_retained = true;
  EXPECT_EQ(CountStorages(plan), 2u);
  ExecutionPlan same = Chain(3, /*same_bytes=*/true);
  same.tensors[0].upper_step = 3;
  EXPECT_EQ(CountStorages(same), 1u);
}

TEST(StorageSharingTest, OtherSizesDoNotShare) {
  ExecutionPlan plan = Chain(3);
  plan.tensors[1].size_bytes = 4;
  EXPECT_EQ(CountStorages(plan), 3u);
}

TEST(StorageSharingTest, AnotherOperandOfTheStepIsNotWrittenOver) {
  ExecutionPlan plan = Chain(2);
  plan.steps[1].uses.push_back({{Role::kSaved}, 0, true, false});
  EXPECT_EQ(CountStorages(plan), 2u);
}

TEST(StorageSharingTest, ASharedStorageLivesAsLongAsAllOfItsTensors) {
  ExecutionPlan plan = Chain(3);
  ASSERT_THAT(AssignStorages({}, &plan), IsOk());
  EXPECT_EQ(plan.storages[0].lower_step, 0);
  EXPECT_EQ(plan.storages[0].upper_step, 4);
  EXPECT_EQ(plan.storages[0].tensors.size(), 3u);
}

TEST(StorageSharingTest, WhatOutlivesTheArenaLiesSideBySide) {
  ExecutionPlan plan = Chain(3);
  plan.mode = NetworkMode::kTraining;
  plan.tensors[0].kind = TensorKind::kInput;
  plan.tensors[1].kind = TensorKind::kLabel;
  plan.tensors[2].kind = TensorKind::kWeight;
  MemoryOptions options;
  options.alignment_bytes = 64;
  ASSERT_THAT(AssignStorages(options, &plan), IsOk());
  EXPECT_EQ(plan.storages[plan.tensors[1].storage].offset_bytes, 64);
  EXPECT_EQ(plan.fixed_bytes, 64 + 8);
  EXPECT_EQ(plan.model_bytes, 8);
}

// The first micro-batch makes the copy for the last; without micro-batches it
// lives only until the loss.
TEST(StorageSharingTest, CopiesOfStatisticsOutliveAMicroBatch) {
  for (const int64_t parts : {1, 2}) {
    ExecutionPlan plan = Chain(1);
    plan.micro_batches = parts;
    plan.tensors[0].kind = TensorKind::kStatisticCopy;
    ASSERT_THAT(AssignStorages({}, &plan), IsOk());
    EXPECT_EQ(plan.storages[0].storage_class,
              parts == 1 ? StorageClass::kArena : StorageClass::kFixed);
  }
}

TEST(StorageSharingTest, RefusesMoreBytesThanItCanCount) {
  ExecutionPlan plan = Chain(3);
  for (PlannedTensor& tensor : plan.tensors) {
    tensor.kind = TensorKind::kWeight;
    tensor.size_bytes = INT64_MAX / 4;
  }
  EXPECT_THAT(AssignStorages({}, &plan),
              StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace footprint
