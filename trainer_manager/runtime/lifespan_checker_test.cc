#include "footprint/trainer_manager/runtime/lifespan_checker.h"

#include <cmath>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const TensorType kPair = {{2}};

StepData::Slot MakeSlot(Role role, std::vector<float>* values, bool read) {
  return {{role}, read, !read, &kPair, values->data()};
}

// Step 0 writes a tensor of two floats, step 1 reads it, and step 2 does not
// use it.
ExecutionPlan ThreeSteps() {
  ExecutionPlan plan;
  plan.tensors.resize(1);
  plan.tensors[0].spec = kPair;
  plan.storage_of = {0};
  plan.storages.resize(1);
  plan.storages[0].size_bytes = 8;
  plan.storages[0].upper_step = 2;
  plan.offsets_bytes = {0};
  plan.steps.resize(3);
  plan.steps[0].uses = {{{Role::kOutput}, 0, false, true}};
  plan.steps[1].uses = {{{Role::kInput}, 0, true, false}};
  return plan;
}

TEST(LifespanCheckerTest, WhatIsReadMustBeWhatWasWritten) {
  std::vector<float> arena = {1, 2};
  LifespanChecker watch(ThreeSteps());
  const StepData::Slot read = MakeSlot(Role::kInput, &arena, true);
  EXPECT_THAT(watch.CheckRead(1, {&read, 1}),
              StatusIs(absl::StatusCode::kInternal));
  const StepData::Slot written = MakeSlot(Role::kOutput, &arena, false);
  watch.MarkWritten(0, {&written, 1});
  EXPECT_THAT(watch.CheckRead(1, {&read, 1}), IsOk());
  arena[1] = 3;
  EXPECT_THAT(std::string(watch.CheckRead(1, {&read, 1}).message()),
              HasSubstr("input 0 is not what was written"));
}

TEST(LifespanCheckerTest, OnlyTheArenaIsWatched) {
  ExecutionPlan plan = ThreeSteps();
  plan.storages[0].storage_class = StorageClass::kFixed;
  std::vector<float> values = {1, 2};
  const StepData::Slot read = MakeSlot(Role::kInput, &values, true);
  EXPECT_THAT(LifespanChecker(plan).CheckRead(1, {&read, 1}), IsOk());
}

TEST(LifespanCheckerTest, AStepMustNotChangeALiveTensorThatItDoesNotWrite) {
  std::vector<float> arena = {1, 2};
  char* bytes = reinterpret_cast<char*>(arena.data());
  LifespanChecker watch(ThreeSteps());
  EXPECT_THAT(watch.CheckOthers(2, {}, bytes), IsOk());  // nothing is written
  const StepData::Slot written = MakeSlot(Role::kOutput, &arena, false);
  const StepData::Slot read = MakeSlot(Role::kInput, &arena, true);
  watch.MarkWritten(0, {&written, 1});
  EXPECT_THAT(watch.CheckOthers(1, {&read, 1}, bytes), IsOk());
  arena[1] = 3;
  EXPECT_THAT(watch.CheckOthers(0, {&written, 1}, bytes), IsOk());
  EXPECT_THAT(watch.CheckOthers(1, {&read, 1}, bytes),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(std::string(watch.CheckOthers(2, {}, bytes).message()),
              HasSubstr("does not write, 8 bytes from offset 0 of the arena"));
  watch.PoisonAfter(1, bytes);
  EXPECT_THAT(watch.CheckOthers(2, {}, bytes), IsOk());
  watch.MarkWritten(0, {&written, 1});
  watch.Begin(bytes, 8);
  EXPECT_THAT(watch.CheckOthers(2, {}, bytes), IsOk());
}

TEST(LifespanCheckerTest, DeadBytesBecomeNaNOnceAfterTheirLastStep) {
  std::vector<float> arena = {1, 2, 3};
  char* bytes = reinterpret_cast<char*>(arena.data());
  LifespanChecker watch(ThreeSteps());
  watch.PoisonAfter(0, bytes);
  EXPECT_EQ(arena[0], 1);
  watch.PoisonAfter(1, bytes);
  EXPECT_TRUE(std::isnan(arena[0]) && std::isnan(arena[1]));
  EXPECT_EQ(arena[2], 3);
  arena = {1, 2, 3};
  watch.PoisonAfter(2, bytes);
  EXPECT_EQ(arena[0], 1);
  watch.Begin(bytes, 12);
  EXPECT_TRUE(std::isnan(arena[2]));
}

TEST(LifespanCheckerTest, ValuesMustBeFiniteUnlessTheyAreScratch) {
  std::vector<float> values = {1, INFINITY};
  const StepData::Slot read = MakeSlot(Role::kWeight, &values, true);
  EXPECT_EQ(std::string(CheckFinite({&read, 1}, /*written=*/false).message()),
            "weight 0 is inf at index 1");
  EXPECT_THAT(CheckFinite({&read, 1}, /*written=*/true), IsOk());
  const StepData::Slot written = MakeSlot(Role::kOutput, &values, false);
  EXPECT_THAT(CheckFinite({&written, 1}, true), Not(IsOk()));
  EXPECT_THAT(CheckFinite({&written, 1}, false), IsOk());
  const StepData::Slot scratch = MakeSlot(Role::kWorkspace, &values, false);
  EXPECT_THAT(CheckFinite({&scratch, 1}, true), IsOk());
}

}  // namespace
}  // namespace footprint
