#include "object_list.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

class ObjectListTest : public ::testing::Test {
 protected:
  ObjectListTest()
      : folder_(open(::testing::TempDir().c_str(), O_RDONLY | O_DIRECTORY)) {}
  ~ObjectListTest() override { close(folder_); }

  static std::vector<std::string> ReadLines(const std::string& name) {
    std::ifstream file(::testing::TempDir() + "/" + name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  const int folder_;
};

TEST_F(ObjectListTest, NamesEachLibraryOnceByItsPath) {
  WriteObjectList(folder_, "2.0.objects");
  const std::vector<std::string> lines = ReadLines("2.0.objects");
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const auto& path) {
    return path.find("/libc.so.6") != std::string::npos;
  }));
  EXPECT_TRUE(std::all_of(lines.begin(), lines.end(),
                          [](const auto& path) { return path[0] == '/'; }));
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(),
            lines.size());
}

TEST_F(ObjectListTest, ReplacesAnOlderListOfTheName) {
  std::ofstream(::testing::TempDir() + "/3.0.objects")
      << std::string(100'000, 'x') << "\n";
  WriteObjectList(folder_, "3.0.objects");
  WriteObjectList(folder_, "4.0.objects");
  EXPECT_EQ(ReadLines("3.0.objects"), ReadLines("4.0.objects"));
}

TEST_F(ObjectListTest, IsLeftOutWhereThereIsNoFolder) {
  WriteObjectList(/*folder=*/-1, "5.0.objects");
  EXPECT_TRUE(ReadLines("5.0.objects").empty());
}

// A line of the list has room for 1,024 bytes; longer paths are left out.
TEST_F(ObjectListTest, NamesLongPathsWholeOrNotAtAll) {
  constexpr char kSmallLibrary[] = "/lib/x86_64-linux-gnu/libutil.so.1";
  std::string folder = ::testing::TempDir() + "/long";
  while (folder.size() < 800) {
    folder += "/" + std::string(100, 'd');
  }
  std::filesystem::create_directories(folder);
  for (size_t length : {1023, 1024}) {
    const std::string path =
        folder + "/" + std::string(length - folder.size() - 1, 'l');
    std::filesystem::copy_file(
        kSmallLibrary, path, std::filesystem::copy_options::overwrite_existing);
    ASSERT_NE(dlopen(path.c_str(), RTLD_NOW), nullptr) << dlerror();
  }
  WriteObjectList(folder_, "6.0.objects");
  size_t longest = 0;
  for (const std::string& line : ReadLines("6.0.objects")) {
    longest = std::max(longest, line.size());
  }
  EXPECT_EQ(longest, 1023u);
}

}  // namespace
}  // namespace footprint::profiling_internal
