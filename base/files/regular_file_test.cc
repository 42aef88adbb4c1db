#include "footprint/base/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

using testing::HasSubstr;

TEST(OpenRegularFile, OpensAFileForOrdinaryReads) {
  const std::string path = WriteTestFile("plain", "bytes");
  const absl::StatusOr<int> descriptor = OpenRegularFile(path);
  ASSERT_TRUE(descriptor.ok()) << descriptor.status();
  char bytes[8];
  EXPECT_EQ(read(*descriptor, bytes, sizeof(bytes)), 5);
  EXPECT_EQ(fcntl(*descriptor, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(fcntl(*descriptor, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  close(*descriptor);
}

// Nobody will ever write to the pipe: a test that waits for it does not end.
TEST(OpenRegularFile, WaitsForNoPipe) {
  const std::string pipe = TestPath("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path :
       {pipe, TestPath("."), std::string("/dev/null")}) {
    const absl::Status status = OpenRegularFile(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(path + ": not a regular file"));
  }
}

TEST(ReadRegularFile, ReadsUpToItsLimit) {
  for (const size_t size : {0, 5, 16384, 16385, 40000}) {
    const std::string bytes(size, 'b');
    const std::string path = WriteTestFile("text", bytes);
    const auto text = ReadRegularFile(path, static_cast<int64_t>(size));
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(*text, bytes);
    if (size == 0) continue;
    const auto less = ReadRegularFile(path, static_cast<int64_t>(size) - 1);
    EXPECT_EQ(less.status().code(), absl::StatusCode::kOutOfRange);
  }
  EXPECT_EQ(ReadRegularFile(TestPath("."), 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(OpenRegularFile, SaysWhatTheSystemRefuses) {
  EXPECT_EQ(OpenRegularFile(TestPath("missing")).status().code(),
            absl::StatusCode::kNotFound);
  const std::string file = WriteTestFile("no_folder", "");
  const absl::Status status = OpenRegularFile(file + "/x").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no_folder/x: cannot"));
}

}  // namespace
}  // namespace footprint::lowmem_internal
