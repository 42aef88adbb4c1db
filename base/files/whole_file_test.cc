#include "footprint/base/files/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/refuse_system_call.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(WholeFileTest, ReadsWhatWasWritten) {
  const std::string path = TestPath("f");
  for (const std::string& bytes :
       {std::string("a\0b\r\n", 5), std::string(), std::string(100'000, 'x')}) {
    for (const ToDisk to_disk : {ToDisk::kFlush, ToDisk::kNoFsync}) {
      ASSERT_THAT(ReplaceFile(path, bytes, to_disk), IsOk());
      const absl::StatusOr<std::string> read = ReadWholeFile(path);
      ASSERT_THAT(read, IsOk());
      EXPECT_EQ(*read, bytes);
    }
  }
}

TEST(WholeFileTest, ReadsUpToItsLimit) {
  // region example
  const std::string path = WriteTestFile("limited", "12345");
  EXPECT_EQ(*ReadWholeFile(path, 5), "12345");
  const absl::Status status = ReadWholeFile(path, 4).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()), HasSubstr("larger than 4 bytes"));
  // endregion
}

TEST(WholeFileDeathTest, SaysThatTheDiskCannotBeRead) {
  const std::string path = WriteTestFile("broken", "12345");
  EXPECT_EXIT(
      {
        if (!RefuseReadsAtPlaces()) std::_Exit(3);
        const absl::Status status = ReadWholeFile(path).status();
        std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "broken: cannot be read: Input/output error");
}

TEST(WholeFileTest, OutputGoesIntoWhatIsNoRegularFile) {
  EXPECT_THAT(WriteOutputFile("/dev/null", "bytes"), IsOk());
  EXPECT_THAT(CheckOutputFile("/dev/null"), IsOk());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string pipe = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_THAT(CheckOutputFile(pipe), IsOk());
  EXPECT_THAT(WriteOutputFile(pipe, "bytes"), IsOk());
  close(ends[1]);
  char got[16] = {};
  EXPECT_EQ(read(ends[0], got, sizeof(got)), 5);
  EXPECT_STREQ(got, "bytes");
  close(ends[0]);
  EXPECT_THAT(CheckOutputFile(testing::TempDir()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(WriteOutputFile(testing::TempDir(), "bytes"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  // This is like /dev/stdout behind a shell's ">".
  const std::string log = WriteTestFile("log", "");
  const int opened = open(log.c_str(), O_WRONLY | O_CLOEXEC);
  const std::string descriptor = "/dev/fd/" + std::to_string(opened);
  EXPECT_THAT(CheckOutputFile(descriptor), IsOk());
  EXPECT_THAT(WriteOutputFile(descriptor, "bytes"), IsOk());
  close(opened);
  EXPECT_EQ(ReadTestFile(log), "bytes");
  const std::string path = TestPath("output");
  EXPECT_THAT(CheckOutputFile(path), IsOk());
  EXPECT_THAT(ReadWholeFile(path), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(WriteOutputFile(path, "bytes"), IsOk());
  EXPECT_EQ(ReadTestFile(path), "bytes");
}

TEST(WholeFileTest, SaysBeforehandWhatCouldNotBeReplaced) {
  const std::string path = TestPath("asked");
  EXPECT_THAT(CheckReplaceable(path), IsOk());
  EXPECT_THAT(ReadWholeFile(path), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(CheckReplaceable(TestPath("none/f")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(CheckReplaceable(TestPath("")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  WriteTestFile("asked", "old");
  EXPECT_THAT(CheckReplaceable(path), IsOk());
  EXPECT_EQ(ReadTestFile(path), "old");
}

}  // namespace
}  // namespace footprint
