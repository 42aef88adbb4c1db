#include "footprint/gates/programs/server_folders.h"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ServerFoldersTest, FollowTheEnvironment) {
  setenv("HOME", "/home/me", 1);
  unsetenv("XDG_DATA_HOME");
  setenv("XDG_CONFIG_HOME", "not/absolute", 1);
  EXPECT_EQ(StoreFolder(), "/home/me/.local/share/footprint");
  EXPECT_EQ(ClientTokenPath(), "/home/me/.config/footprint/token");
  setenv("XDG_DATA_HOME", "/data", 1);
  setenv("XDG_CONFIG_HOME", "/config", 1);
  EXPECT_EQ(StoreFolder(), "/data/footprint");
  EXPECT_EQ(ClientTokenPath(), "/config/footprint/token");
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
  EXPECT_THAT(MakeFolders(path + "/below"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
