#include "footprint/lowmem/streaming/model_run.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

// Returns a store of two vectors: 0, 1, 2, 3 and 4, 5, 6, 7.
std::unique_ptr<WeightStore> TwoVectors() {
  std::string data;
  for (int i = 0; i < 8; ++i) {
    const float number = static_cast<float>(i);
    data.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  const std::string path = WriteTestFile(
      "vectors.safetensors",
      SafetensorsBytes(
          R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},)"
          R"("b":{"dtype":"F32","shape":[4],"data_offsets":[16,32]}})",
          data));
  return *WeightStore::Open(path, WeightBackend::kPread);
}

TEST(TakeRunMemoryTest, PinsAsManyAsWerePlanned) {
  const std::unique_ptr<WeightStore> store = TwoVectors();
  const std::vector<Weight> tensors = {*store->Find("b"), *store->Find("a")};
  PinnedTensors planned;
  planned.range.offset_bytes = 4096;
  planned.range.size_bytes = PinnedStore::PinnedBytes(tensors[0].tensor());
  planned.count = 1;
  const absl::StatusOr<RunMemory> memory =
      TakeRunMemory(8192, planned, tensors, store.get());
  ASSERT_THAT(memory, IsOk());
  float first;
  std::memcpy(&first, memory->arena.At<char>(4096), sizeof(first));
  EXPECT_EQ(first, 4.0f);
}

TEST(TakeRunMemoryTest, PinsNothingIfNothingIsPlanned) {
  const std::unique_ptr<WeightStore> store = TwoVectors();
  const absl::StatusOr<RunMemory> memory =
      TakeRunMemory(4096, {}, {}, store.get());
  ASSERT_THAT(memory, IsOk());
  EXPECT_EQ(memory->pinned, nullptr);
}

TEST(TakeRunMemoryTest, SaysThatPlannedTensorsDoNotFit) {
  const std::unique_ptr<WeightStore> store = TwoVectors();
  PinnedTensors planned;
  planned.count = 1;
  EXPECT_THAT(TakeRunMemory(4096, planned, {*store->Find("a")}, store.get()),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(ReadVectorsTest, EveryVectorIsReadByOneWorker) {
  const std::unique_ptr<WeightStore> store = TwoVectors();
  const Weight a = *store->Find("a");
  const Weight b = *store->Find("b");
  float read[3][4] = {};
  const std::vector<VectorLoad> loads = {
      {&a, read[0]}, {&b, read[1]}, {&a, read[2]}};
  ASSERT_THAT(ReadVectors(loads, 1, 2, store.get()), IsOk());
  EXPECT_EQ(read[0][3], 0.0f);
  EXPECT_EQ(read[1][3], 7.0f);
  EXPECT_EQ(read[2][3], 0.0f);
  ASSERT_THAT(ReadVectors(loads, 0, 2, store.get()), IsOk());
  EXPECT_EQ(read[0][3], 3.0f);
  EXPECT_EQ(read[2][3], 3.0f);
}

// If the file changed, that is the reason for numbers that are not finite.
TEST(PassFaultTest, LooksAtTheFileWhereNumbersAreNotFinite) {
  const std::unique_ptr<WeightStore> store = TwoVectors();
  const absl::Status fault = NotFinite(*store, "layer 3");
  EXPECT_THAT(fault, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_NE(fault.message().find("vectors.safetensors: layer 3 gives"),
            absl::string_view::npos);
  EXPECT_EQ(PassFault(*store, fault), fault);
  ASSERT_EQ(truncate(store->index().file_name().c_str(), 100), 0);
  EXPECT_THAT(PassFault(*store, fault),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  const absl::Status other = absl::UnavailableError("other");
  EXPECT_EQ(PassFault(*store, other), other);
}

TEST(CheckIdsTest, NamesTheFirstThatIsOutOfRange) {
  EXPECT_THAT(CheckIds({0, 9}, 10), IsOk());
  EXPECT_THAT(CheckIds({}, 10), StatusIs(absl::StatusCode::kInvalidArgument));
  for (const int32_t bad : {-1, 10}) {
    const absl::Status status = CheckIds({3, bad}, 10);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_NE(std::string(status.message()).find("token 1"), std::string::npos);
  }
}

TEST(StepTimesTest, AddUpUntilCleared) {
  StepTimes times(2);
  const auto pass = [] {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() == begin) {
    }
  };
  times.Begin();
  pass();
  times.Record(1);
  const int64_t once = times.nanoseconds()[1];
  EXPECT_GT(once, 0);
  pass();
  times.Record(1);
  EXPECT_GT(times.nanoseconds()[1], once);
  EXPECT_EQ(times.nanoseconds()[0], 0);
  times.Clear();
  EXPECT_EQ(times.nanoseconds()[1], 0);
}

}  // namespace
}  // namespace footprint::lowmem_internal
