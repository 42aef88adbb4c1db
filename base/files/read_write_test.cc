#include "footprint/base/files/read_write.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::StartsWith;

FileDescriptor OpenToRead(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

TEST(ReadWriteTest, ReadsAllThereIs) {
  const FileDescriptor file =
      OpenToRead(WriteTestFile("read_at", "0123456789"));
  std::string bytes(10, '-');
  EXPECT_EQ(ReadAt(file.get(), 2, 5, &bytes[1]), 5);
  EXPECT_EQ(bytes, "-23456----");
  EXPECT_EQ(ReadAt(file.get(), 7, 5, &bytes[0]), 3);
  EXPECT_EQ(bytes, "789456----");
  EXPECT_EQ(ReadAt(file.get(), 10, 5, &bytes[0]), 0);
  EXPECT_EQ(ReadAt(file.get(), 0, 0, nullptr), 0);
}

TEST(ReadWriteTest, ReadsOnFromWhereItEnded) {
  const FileDescriptor file =
      OpenToRead(WriteTestFile("read_on", "0123456789"));
  std::string bytes(6, '-');
  EXPECT_EQ(ReadOn(file.get(), 6, &bytes[0]), 6);
  EXPECT_EQ(bytes, "012345");
  EXPECT_EQ(ReadOn(file.get(), 6, &bytes[0]), 4);
  EXPECT_EQ(bytes, "678945");
}

TEST(ReadWriteTest, SaysWhereAFileEndsTooEarly) {
  const std::string path = WriteTestFile("short", "0123456789");
  const FileDescriptor file = OpenToRead(path);
  std::string bytes(10, '-');
  EXPECT_THAT(ReadFully(file.get(), path, 2, 8, &bytes[0]), IsOk());
  EXPECT_EQ(bytes, "23456789--");
  const absl::Status status = ReadFully(file.get(), path, 7, 5, &bytes[0]);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(status.message()),
              StartsWith(path + ": ends at byte 10, 2 bytes too early"));
}

TEST(ReadWriteTest, WritesAtAPlaceAndOn) {
  const std::string path = WriteTestFile("written", "0123456789");
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(WriteAt(file.get(), 8, "abcd", 4));
  EXPECT_TRUE(WriteOn(file.get(), "xy", 2));
  EXPECT_TRUE(WriteOn(file.get(), "z", 1));
  EXPECT_TRUE(WriteAt(file.get(), 0, nullptr, 0));
  EXPECT_EQ(ReadTestFile(path), "xyz34567abcd");
}

TEST(ReadWriteTest, SaysWhyNot) {
  char byte = 0;
  errno = 0;
  EXPECT_EQ(ReadAt(-1, 0, 1, &byte), -1);
  EXPECT_EQ(errno, EBADF);
  errno = 0;
  EXPECT_FALSE(WriteAt(-1, 0, &byte, 1));
  EXPECT_EQ(errno, EBADF);
  errno = 0;
  EXPECT_FALSE(WriteOn(-1, &byte, 1));
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(ReadOn(-1, 1, &byte), -1);
  EXPECT_THAT(ReadFully(-1, "none", 0, 1, &byte),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace footprint
