#include "footprint/base/files/file_lock.h"

#include <sys/stat.h>
#include <unistd.h>

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

TEST(FileLockTest, IsNotHeldUpByAPipeThatNobodyWrites) {
  std::string path = testing::TempDir() + "/file_lock_pipe_XXXXXX";
  ASSERT_NE(mkdtemp(&path[0]), nullptr);
  path += "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  alarm(20);  // the end of a test that waits
  const absl::Status status = FileLock::TryAcquire(path).status();
  alarm(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pipe: is neither a regular file nor a folder"));
}

}  // namespace
}  // namespace footprint
