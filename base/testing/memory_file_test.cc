#include "footprint/base/testing/memory_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MemoryFileTest, HasAPathThatIsRead) {
  const MemoryFile file(absl::string_view("a\0b", 3));
  EXPECT_EQ(ReadFile(file.path()), std::string("a\0b", 3));
  struct stat status;
  ASSERT_EQ(stat(file.path().c_str(), &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_EQ(access(file.path().c_str(), X_OK), 0);
}

TEST(MemoryFileTest, HolesAreZeros) {
  const MemoryFile file("a");
  file.Write(3, "b");
  file.Resize(5);
  EXPECT_EQ(ReadFile(file.path()), std::string("a\0\0b\0", 5));
}

TEST(MemoryFileTest, GoesWithItsObject) {
  std::string path;
  {
    const MemoryFile file("a");
    path = file.path();
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

// An empty file has no bytes, so writing them cannot notice the refusal.
TEST(MemoryFileTest, EndsTheProcessIfTheSystemRefuses) {
  const auto refuse = [](const char* bytes) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    const MemoryFile file(bytes);
  };
  EXPECT_DEATH(refuse("a"), "a file in memory: Too many open files");
  EXPECT_DEATH(refuse(""), "a file in memory: Too many open files");
}

}  // namespace
}  // namespace footprint
