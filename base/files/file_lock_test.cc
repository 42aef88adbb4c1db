#include "footprint/base/files/file_lock.h"

#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(FileLockTest, ALockIsHeldByOne) {
  std::string folder = testing::TempDir() + "/file_lock_XXXXXX";
  ASSERT_NE(mkdtemp(&folder[0]), nullptr);
  {
    absl::StatusOr<FileLock> first = FileLock::TryAcquire(folder);
    ASSERT_TRUE(first.ok()) << first.status();
    const absl::Status second = FileLock::TryAcquire(folder).status();
    EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(second.message()),
                HasSubstr("held by another process"));
  }
  EXPECT_TRUE(FileLock::TryAcquire(folder).ok());
  EXPECT_EQ(FileLock::TryAcquire(folder + "/none").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace footprint
