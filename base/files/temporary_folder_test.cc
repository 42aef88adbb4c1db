#include "footprint/base/files/temporary_folder.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

TEST(TemporaryFolderTest, IsThereForItsUserAlone) {
  TemporaryFolder folder;
  EXPECT_EQ(folder.path(), "");
  ASSERT_THAT(folder.Create(::testing::TempDir(), "own"), IsOk());
  EXPECT_THAT(folder.path(), StartsWith(::testing::TempDir()));
  EXPECT_THAT(folder.path(), HasSubstr("/own-"));
  struct stat seen = {};
  ASSERT_EQ(stat(folder.path().c_str(), &seen), 0);
  EXPECT_TRUE(S_ISDIR(seen.st_mode));
  EXPECT_EQ(seen.st_mode & 0777, 0700u);
  EXPECT_EQ(folder.Path("a/b"), folder.path() + "/a/b");
}

TEST(TemporaryFolderTest, IsAnotherEachTime) {
  TemporaryFolder first;
  TemporaryFolder second;
  ASSERT_THAT(first.Create(::testing::TempDir(), "twice"), IsOk());
  ASSERT_THAT(second.Create(::testing::TempDir(), "twice"), IsOk());
  EXPECT_NE(first.path(), second.path());
}

TEST(TemporaryFolderTest, IsGoneWithAllThatIsInIt) {
  std::string path;
  {
    TemporaryFolder folder;
    ASSERT_THAT(folder.Create(::testing::TempDir(), "full"), IsOk());
    path = folder.path();
    fs::create_directories(folder.Path("deep/er"));
    std::ofstream(folder.Path("deep/er/file")) << "bytes";
    ASSERT_TRUE(fs::exists(folder.Path("deep/er/file")));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolderTest, LeavesWhatItsLinksPointTo) {
  const std::string kept = WriteTestFile("kept", "all of it");
  {
    TemporaryFolder folder;
    ASSERT_THAT(folder.Create(::testing::TempDir(), "links"), IsOk());
    fs::create_symlink(kept, folder.Path("file"));
    fs::create_directory_symlink(::testing::TempDir(), folder.Path("folder"));
  }
  EXPECT_EQ(ReadTestFile(kept), "all of it");
}

TEST(TemporaryFolderTest, SaysWhichCannotBeMade) {
  TemporaryFolder folder;
  EXPECT_THAT(folder.Create("/nowhere/at all", "mine"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("/nowhere/at all/mine-")));
  EXPECT_THAT(folder.Create("", "mine"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mine")));
  EXPECT_EQ(folder.path(), "");
}

TEST(TemporaryFolderTest, StandsWhereTmpdirSays) {
  setenv("TMPDIR", "/var/elsewhere", 1);
  EXPECT_EQ(TemporaryFolderParent(), "/var/elsewhere");
  setenv("TMPDIR", "", 1);
  EXPECT_EQ(TemporaryFolderParent(), "/tmp");
  unsetenv("TMPDIR");
  EXPECT_EQ(TemporaryFolderParent(), "/tmp");
}

}  // namespace
}  // namespace footprint
