#include "footprint/base/files/file_descriptor.h"

#include <fcntl.h>

#include <utility>

#include "gtest/gtest.h"

namespace footprint {
namespace {

int OpenAny() { return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

bool IsOpen(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

TEST(FileDescriptorTest, ClosesWhatItOwnsOnce) {
  EXPECT_FALSE(FileDescriptor().is_open());
  EXPECT_FALSE(FileDescriptor(-1).is_open());
  int number = -1;
  {
    FileDescriptor file(OpenAny());
    number = file.get();
    FileDescriptor moved = std::move(file);
    EXPECT_TRUE(moved.is_open());
    EXPECT_EQ(moved.get(), number);
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(FileDescriptorTest, ClosesWhatIsReplaced) {
  FileDescriptor file(OpenAny());
  const int replaced = file.get();
  FileDescriptor other(OpenAny());
  const int kept = other.get();
  {
    FileDescriptor taken = std::move(other);
    file = std::move(taken);
  }
  EXPECT_EQ(file.get(), kept);
  EXPECT_TRUE(IsOpen(kept));
  EXPECT_FALSE(IsOpen(replaced));
}

}  // namespace
}  // namespace footprint
