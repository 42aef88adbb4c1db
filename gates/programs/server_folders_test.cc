#include "footprint/gates/programs/server_folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(ServerFoldersTest, FollowTheEnvironment) {
  setenv("HOME", "/home/me", 1);
  unsetenv("XDG_DATA_HOME");
  setenv("XDG_CONFIG_HOME", "not/absolute", 1);
  EXPECT_THAT(StoreFolder(), IsOkAndHolds("/home/me/.local/share/footprint"));
  EXPECT_THAT(ClientTokenPath(),
              IsOkAndHolds("/home/me/.config/footprint/token"));
  setenv("XDG_DATA_HOME", "/data", 1);
  setenv("XDG_CONFIG_HOME", "/config", 1);
  EXPECT_THAT(StoreFolder(), IsOkAndHolds("/data/footprint"));
  EXPECT_THAT(ClientTokenPath(), IsOkAndHolds("/config/footprint/token"));
}

TEST(ServerFoldersTest, WithoutAHomeThereIsNoFolderAtTheRoot) {
  unsetenv("XDG_DATA_HOME");
  unsetenv("XDG_CONFIG_HOME");
  for (const char* home : {"", "not/absolute"}) {
    setenv("HOME", home, 1);
    EXPECT_THAT(StoreFolder(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("--store")));
    EXPECT_THAT(ClientTokenPath(),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("--token_file")));
  }
}

TEST(ServerFoldersTest, AProgramIsAbsoluteAndCanBeRun) {
  unsetenv("BUILD_WORKING_DIRECTORY");
  const std::string path = WriteTestFile("program", "#!/bin/sh\n");
  EXPECT_THAT(ProgramPath("--lowmem", path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not a program that can be run")));
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_THAT(ProgramPath("--lowmem", path), IsOkAndHolds(path));
  const std::string folder = path.substr(0, path.rfind('/'));
  ASSERT_EQ(chdir(folder.c_str()), 0);
  EXPECT_THAT(ProgramPath("--lowmem", "program"),
              IsOkAndHolds(EndsWith("/program")));
  EXPECT_THAT(ProgramPath("--lowmem", ""), IsOkAndHolds(""));
  EXPECT_THAT(ProgramPath("--lowmem", folder),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ServerFoldersTest, ASecretIsTheOwnersAlone) {
  const std::string path = TestPath("deep/er/token");
  ASSERT_THAT(WriteSecretFile(path, "one"), IsOk());
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_THAT(WriteSecretFile(path, "two"), IsOk());
  EXPECT_EQ(ReadTestFile(path), "two");
  struct stat found;
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  for (const char* below : {"", "/below"}) {
    EXPECT_THAT(MakeFolders(path + below),
                StatusIs(absl::StatusCode::kNotFound));
  }
}

}  // namespace
}  // namespace footprint
