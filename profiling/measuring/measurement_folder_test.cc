// Tests what measurement_folder.h promises. measure_program_test tests that no
// folder outlives its runner.

#include "footprint/profiling/measuring/measurement_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

std::string Put(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << name;
  return path;
}

TEST(MeasurementFolderTest, ItIsThereAsLongAsItsOwner) {
  std::string path;
  {
    const MeasurementFolder folder;
    path = folder.path();
    ASSERT_TRUE(fs::is_directory(path));
    // No other runner removes it meanwhile.
    RemoveAbandonedFolders();
    EXPECT_TRUE(fs::is_directory(path));
    std::ofstream(path + "/left") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(MeasurementFolderTest, DataIsFoundByItsName) {
  const MeasurementFolder folder;
  ASSERT_THAT(LinkData({{Put("a"), "in put/b"}}, folder.path()), IsOk());
  EXPECT_TRUE(fs::is_symlink(folder.path() + "/in put/b"));
  EXPECT_EQ(LinkData({{"/no/such/file", "c"}}, folder.path()).code(),
            absl::StatusCode::kNotFound);
}

TEST(MeasurementFolderTest, AProgramIsCopiedWithItsFiles) {
  const MeasurementFolder folder;
  const std::string link = testing::TempDir() + "/link";
  unlink(link.c_str());
  fs::create_symlink(Put("target"), link);
  ASSERT_THAT(
      CopyProgram(Put("p"), "program", {{link, "w/data"}}, folder.path()),
      IsOk());
  EXPECT_TRUE(fs::is_regular_file(folder.path() + "/program"));
  const std::string data = folder.path() + "/program.runfiles/w/data";
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(data)));
  EXPECT_EQ(CopyProgram("/no/such/file", "x", {}, folder.path()).code(),
            absl::StatusCode::kInvalidArgument);
}

// Makes a folder that nobody may write to, as Bazel makes its outputs, and
// returns false if this user may all the same.
bool MakeReadOnly(const std::string& folder) {
  fs::create_directories(folder);
  std::ofstream(folder + "/file") << "x";
  fs::permissions(folder, fs::perms(0555));
  return access(folder.c_str(), W_OK) != 0;
}

TEST(MeasurementFolderTest, CopiesAndRemovesFoldersThatNobodyMayWriteTo) {
  const std::string original = testing::TempDir() + "/read_only";
  const bool is_refused = MakeReadOnly(original);
  std::string path;
  {
    const MeasurementFolder folder;
    path = folder.path();
    EXPECT_THAT(CopyProgram(Put("q"), "program", {{original, "w/data"}}, path),
                IsOk());
    EXPECT_TRUE(fs::is_regular_file(path + "/program.runfiles/w/data/file"));
    MakeReadOnly(path + "/kept/inner");
    fs::permissions(path + "/kept", fs::perms(0555));
  }
  EXPECT_FALSE(fs::exists(path));
  fs::permissions(original, fs::perms::owner_all);
  if (!is_refused) GTEST_SKIP() << "this user may write everywhere";
}

}  // namespace
}  // namespace footprint
