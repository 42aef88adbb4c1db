#include "footprint/base/files/read_at.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "footprint/base/files/test_file.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

TEST(ReadAt, ReadsAllThereIs) {
  const std::string path = WriteTestFile("read_at", "0123456789");
  const int file = open(path.c_str(), O_RDONLY);
  std::string bytes(10, '-');
  EXPECT_EQ(ReadAt(file, 2, 5, &bytes[1]), 5);
  EXPECT_EQ(bytes, "-23456----");
  EXPECT_EQ(ReadAt(file, 7, 5, &bytes[0]), 3);
  EXPECT_EQ(bytes, "789456----");
  EXPECT_EQ(ReadAt(file, 10, 5, &bytes[0]), 0);
  EXPECT_EQ(ReadAt(file, 0, 0, nullptr), 0);
  close(file);
}

TEST(ReadAt, SaysWhyNot) {
  char byte = 0;
  errno = 0;
  EXPECT_EQ(ReadAt(-1, 0, 1, &byte), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace footprint::lowmem_internal
