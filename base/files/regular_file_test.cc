#include "footprint/base/files/regular_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(RegularFileTest, OpensAFileForOrdinaryReads) {
  const absl::StatusOr<FileDescriptor> file =
      OpenRegularFile(WriteTestFile("plain", "bytes"));
  ASSERT_THAT(file, IsOk());
  char bytes[8];
  EXPECT_EQ(read(file->get(), bytes, sizeof(bytes)), 5);
  EXPECT_EQ(fcntl(file->get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(fcntl(file->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

}  // namespace
}  // namespace footprint
