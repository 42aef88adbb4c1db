#include "footprint/base/testing/named_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(NamedFileTest, IsReadAndHasALink) {
  const NamedFile file(absl::string_view("a\0b", 3));
  std::ifstream read(file.path(), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(read), {}),
            std::string("a\0b", 3));
  struct stat status;
  ASSERT_EQ(stat(file.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink, 1u);
}

TEST(NamedFileTest, GoesWithItsObjectAndIsNoOthers) {
  const NamedFile other("b");
  std::string path;
  {
    const NamedFile file("a");
    path = file.path();
    EXPECT_NE(path, other.path());
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace footprint
