#include "footprint/lowmem/streaming/disk_rate.h"

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

std::string WriteWeights(const char* name, int64_t bytes) {
  return WriteTestFile(
      name,
      SafetensorsBytes(absl::StrCat(R"({"a":{"dtype":"U8","shape":[)", bytes,
                                    R"(],"data_offsets":[0,)", bytes, "]}}"),
                       std::string(static_cast<size_t>(bytes), 'x')));
}

std::unique_ptr<WeightStore> OpenStore(const std::string& path,
                                       WeightBackend backend) {
  return *WeightStore::Open(path, backend);
}

// Files smaller than a piece, of whole pieces, and of a piece and some bytes.
TEST(DiskRateTest, MeasuresFilesOfAnySize) {
  for (const int64_t bytes : {1, 5000, (1 << 20) - 100, 3000001}) {
    const auto store = OpenStore(WriteWeights("rate.safetensors", bytes),
                                 WeightBackend::kDirect);
    if (store->direct_descriptor() < 0) GTEST_SKIP() << store->Description();
    const absl::StatusOr<int64_t> rate = MeasureDiskRate(*store);
    ASSERT_THAT(rate, IsOk());
    EXPECT_GT(*rate, 0) << bytes;
  }
}

TEST(DiskRateTest, RefusesReadsThroughThePageCache) {
  const auto store = OpenStore(WriteWeights("cached.safetensors", 5000),
                               WeightBackend::kPread);
  EXPECT_THAT(MeasureDiskRate(*store),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("--backend=direct")));
}

TEST(DiskRateTest, SaysThatTheFileHasBecomeEmpty) {
  const std::string path = WriteWeights("emptied.safetensors", 5000);
  const auto store = OpenStore(path, WeightBackend::kDirect);
  if (store->direct_descriptor() < 0) GTEST_SKIP() << store->Description();
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_THAT(MeasureDiskRate(*store),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(path)));
}

}  // namespace
}  // namespace footprint
