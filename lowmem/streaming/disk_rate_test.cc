#include "footprint/lowmem/streaming/disk_rate.h"

#include <fcntl.h>
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

using ::testing::AllOf;
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

bool ReadsPastTheCache(const WeightStore& store) {
  return (fcntl(store.direct_descriptor(), F_GETFL) & O_DIRECT) != 0;
}

// Files smaller than a piece, of whole pieces, and of a piece and some bytes.
TEST(DiskRateTest, MeasuresFilesOfAnySize) {
  for (const int64_t bytes : {1, 5000, (1 << 20) - 100, 3000001}) {
    const auto store = OpenStore(WriteWeights("rate.safetensors", bytes),
                                 WeightBackend::kDirect);
    if (!ReadsPastTheCache(*store)) GTEST_SKIP() << store->Description();
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

// Where the file system refuses O_DIRECT, the store's descriptor has no such
// flag, and what it reads comes from the page cache.
TEST(DiskRateTest, RefusesADescriptorThatReadsThroughThePageCache) {
  const auto store = OpenStore(WriteWeights("refused.safetensors", 5000),
                               WeightBackend::kDirect);
  const int descriptor = store->direct_descriptor();
  ASSERT_GE(descriptor, 0);
  const int flags = fcntl(descriptor, F_GETFL);
  ASSERT_EQ(fcntl(descriptor, F_SETFL, flags & ~O_DIRECT), 0);
  EXPECT_THAT(MeasureDiskRate(*store),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("refused.safetensors"),
                             HasSubstr("a file system that reads past the page "
                                       "cache"))));
}

TEST(DiskRateTest, SaysThatTheFileHasBecomeEmpty) {
  const std::string path = WriteWeights("emptied.safetensors", 5000);
  const auto store = OpenStore(path, WeightBackend::kDirect);
  if (!ReadsPastTheCache(*store)) GTEST_SKIP() << store->Description();
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_THAT(MeasureDiskRate(*store),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(path)));
}

}  // namespace
}  // namespace footprint
