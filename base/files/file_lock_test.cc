#include "footprint/base/files/file_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(FileLockTest, ALockIsHeldByOne) {
  const std::string folder = testing::TempDir();
  {
    absl::StatusOr<FileLock> first = FileLock::TryAcquire(folder);
    ASSERT_THAT(first, IsOk());
    const absl::Status second = FileLock::TryAcquire(folder).status();
    EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(std::string(second.message()),
                HasSubstr("held by another process"));
  }
  EXPECT_THAT(FileLock::TryAcquire(folder), IsOk());
  EXPECT_THAT(FileLock::TryAcquire(folder + "/none"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(FileLockTest, IsNotHeldUpByAPipeThatNobodyWrites) {
  std::string path = testing::TempDir() + "/file_lock_pipe_XXXXXX";
  ASSERT_NE(mkdtemp(&path[0]), nullptr);
  path += "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  alarm(20);  // ends a test that waits
  const absl::Status status = FileLock::TryAcquire(path).status();
  alarm(0);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pipe: is neither a regular file nor a folder"));
}

TEST(FileLockTest, MakesTheFileItLocks) {
  const std::string path = TestPath("made");
  unlink(path.c_str());
  const absl::StatusOr<FileLock> lock = FileLock::Acquire(path);
  ASSERT_THAT(lock, IsOk());
  EXPECT_EQ(ReadTestFile(path), "");
  EXPECT_TRUE(absl::IsUnavailable(FileLock::TryAcquire(path).status()));
}

TEST(FileLockTest, LocksWhatIsOpen) {
  const std::string path = WriteTestFile("open", "");
  const FileDescriptor one(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const FileDescriptor other(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(LockFile(one.get(), WhenLocked::kRefuse));
  EXPECT_FALSE(LockFile(other.get(), WhenLocked::kRefuse));
  EXPECT_EQ(errno, EWOULDBLOCK);
}

TEST(FileLockTest, KnowsTheNamesOfWhatIsOpen) {
  const std::string path = WriteTestFile("named", "");
  const std::string link = TestPath("link");
  unlink(link.c_str());
  ASSERT_EQ(symlink("named", link.c_str()), 0);
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(IsNamed(path, Links::kRefuse, file.get()));
  EXPECT_FALSE(IsNamed(link, Links::kRefuse, file.get()));
  EXPECT_TRUE(IsNamed(link, Links::kFollow, file.get()));
  ASSERT_EQ(unlink(path.c_str()), 0);
  WriteTestFile("named", "another");
  EXPECT_FALSE(IsNamed(path, Links::kFollow, file.get()));
}

}  // namespace
}  // namespace footprint
