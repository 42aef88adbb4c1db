#include "footprint/base/files/pipe.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(PipeTest, ACloseOfTheWritingEndIsTheReadersEnd) {
  absl::StatusOr<Pipe> pipe = MakePipe();
  ASSERT_THAT(pipe, IsOk());
  for (const FileDescriptor* end : {&pipe->read_end, &pipe->write_end}) {
    EXPECT_EQ(fcntl(end->get(), F_GETFD), FD_CLOEXEC);
  }
  ASSERT_EQ(write(pipe->write_end.get(), "x", 1), 1);
  pipe->write_end = FileDescriptor();
  char byte = 0;
  EXPECT_EQ(read(pipe->read_end.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(read(pipe->read_end.get(), &byte, 1), 0);
}

void MakeOneWithoutStandardFiles() {
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  absl::StatusOr<Pipe> pipe = MakePipe();
  if (!pipe.ok()) std::_Exit(1);
  for (const FileDescriptor* end : {&pipe->read_end, &pipe->write_end}) {
    if (end->get() <= STDERR_FILENO) std::_Exit(2);
    if (fcntl(end->get(), F_GETFD) != FD_CLOEXEC) std::_Exit(3);
  }
  // The two numbers are free again.
  std::_Exit(open("/dev/null", O_RDONLY) == STDIN_FILENO &&
                     open("/dev/null", O_WRONLY) == STDOUT_FILENO
                 ? 0
                 : 4);
}

TEST(PipeDeathTest, NeitherEndIsAStandardFile) {
  EXPECT_EXIT(MakeOneWithoutStandardFiles(), testing::ExitedWithCode(0), "");
}

void MakeOneWithoutDescriptors() {
  const rlimit limit = {3, 3};
  setrlimit(RLIMIT_NOFILE, &limit);
  std::_Exit(absl::IsResourceExhausted(MakePipe().status()) ? 0 : 1);
}

TEST(PipeDeathTest, TooManyOpenFilesAreAnError) {
  EXPECT_EXIT(MakeOneWithoutDescriptors(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace footprint
