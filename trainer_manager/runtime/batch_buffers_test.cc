#include "footprint/trainer_manager/runtime/batch_buffers.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

MemoryOptions MicroBatches(int64_t count) {
  MemoryOptions memory;
  memory.micro_batches = count;
  return memory;
}

InputView View(const std::vector<float>& values) {
  return absl::MakeConstSpan(values);
}

TEST(BatchBuffersTest, ABatchIsCompleteOnceAllIsSet) {
  for (const int64_t micro_batches : {1, 2}) {
    TabularSteps running(NetworkMode::kTraining, MicroBatches(micro_batches));
    BatchBuffers& buffers = running.buffers;
    const void* culprit = nullptr;
    const std::vector<float> rows(4 * 13, 1.0f);
    ASSERT_THAT(buffers.Set(BatchPart::kInput, 0, View(rows)), IsOk());
    absl::Status status = buffers.CheckBatch(&culprit);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("label 0 was never set"));
    const auto labels = buffers.ValuesToFill<float>(BatchPart::kLabel, 0);
    ASSERT_THAT(labels, IsOk());
    ASSERT_EQ(labels->size(), 4u);
    EXPECT_THAT(buffers.CheckBatch(&culprit), IsOk());
    EXPECT_EQ(culprit, nullptr);
    labels->back() = kInfinity;
    status = buffers.CheckBatch(&culprit);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("label 0 is inf at index 3 of the batch"));
    EXPECT_EQ(culprit, labels->data());
  }
}

TEST(BatchBuffersTest, CopiesWhatIsSet) {
  TabularSteps running(NetworkMode::kTraining, MicroBatches(2));
  const std::vector<float> rows(4 * 13, 0.5f);
  ASSERT_THAT(running.buffers.Set(BatchPart::kInput, 0, View(rows)), IsOk());
  const auto filled = running.buffers.ValuesToFill<float>(BatchPart::kInput, 0);
  ASSERT_THAT(filled, IsOk());
  EXPECT_NE(filled->data(), rows.data());
  EXPECT_EQ(std::vector<float>(filled->begin(), filled->end()), rows);
}

TEST(BatchBuffersTest, RefusesBuffersThatThereAreNot) {
  TabularSteps running(NetworkMode::kTraining);
  BatchBuffers& buffers = running.buffers;
  const std::vector<float> rows(4 * 13);
  EXPECT_THAT(
      std::string(buffers.Set(BatchPart::kInput, 1, View(rows)).message()),
      HasSubstr("there is no input 1; there are 1"));
  EXPECT_THAT(buffers.Set(BatchPart::kLabel, 0, View(rows)), Not(IsOk()));
  EXPECT_THAT(buffers.ValuesToFill<float>(BatchPart::kInput, 1), Not(IsOk()));
  EXPECT_THAT(buffers.ValuesToFill<int32_t>(BatchPart::kInput, 0), Not(IsOk()));
  EXPECT_THAT(buffers.Output(9), Not(IsOk()));
}

TEST(BatchBuffersTest, LendsTheAddressesOfEveryInput) {
  TabularSteps running(NetworkMode::kInference);
  BatchBuffers& buffers = running.buffers;
  EXPECT_EQ(buffers.loss(), nullptr);
  const std::vector<float> rows(4 * 13);
  ASSERT_THAT(buffers.LendInputs({View(rows)}), IsOk());
  ASSERT_EQ(buffers.lent().size(), 1u);
  EXPECT_EQ(buffers.lent()[0], rows.data());
  EXPECT_THAT(std::string(buffers.LendInputs({}).message()),
              HasSubstr("0 inputs, but the network has 1"));
}

TEST(BatchBuffersTest, SeesThatLentMemoryChanged) {
  for (const bool watched : {false, true}) {
    TabularSteps running(NetworkMode::kInference, {}, watched);
    std::vector<float> rows(4 * 13);
    ASSERT_THAT(running.buffers.LendInputs({View(rows)}), IsOk());
    StepData::Slot slot = {
        {Role::kInput, 0}, true, false, nullptr, rows.data()};
    const auto check = [&] {
      return running.buffers.CheckUnchanged(
          absl::MakeConstSpan(&slot, 1), running.runner.table().LayerNameAt(0));
    };
    EXPECT_THAT(check(), IsOk());
    rows[5] = 1;
    EXPECT_EQ(check().ok(), !watched);
    if (!watched) continue;
    EXPECT_THAT(std::string(check().message()),
                HasSubstr("input 0 changed before layer"));
  }
}

TEST(BatchBuffersTest, NamesTheFirstOutputThatIsNotFinite) {
  TabularSteps running(NetworkMode::kInference);
  EXPECT_EQ(running.buffers.FirstOutputNotFinite(), "");
  const auto output = running.buffers.Output(0);
  ASSERT_THAT(output, IsOk());
  const_cast<float&>((*output)[2]) = -kInfinity;
  EXPECT_EQ(running.buffers.FirstOutputNotFinite(),
            "output 0 is -inf at index 2");
}

}  // namespace
}  // namespace footprint
