#include "footprint/profiling/sites/file_space.h"

#include <errno.h>
#include <fcntl.h>

#include "gtest/gtest.h"

namespace {

int calls = 0;
int interruptions = 0;

}  // namespace

// Replaces the C library's, so that it can be interrupted.
extern "C" int posix_fallocate(int file, off_t offset, off_t size) {
  ++calls;
  if (interruptions-- > 0) return EINTR;
  if (file < 0) return EBADF;
  return offset == 4096 && size == 100 ? 0 : EINVAL;
}

namespace footprint::profiling_internal {
namespace {

TEST(FileSpaceTest, BeginsAgainAfterEachSignal) {
  calls = 0;
  interruptions = 3;
  EXPECT_EQ(ReserveFileSpace(1, 4096, 100), 0);
  EXPECT_EQ(calls, 4);
}

TEST(FileSpaceTest, ReturnsOtherErrorsAtOnce) {
  calls = 0;
  interruptions = 0;
  EXPECT_EQ(ReserveFileSpace(-1, 4096, 100), EBADF);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace footprint::profiling_internal
