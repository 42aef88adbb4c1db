#include "footprint/gates/trials/work_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::StartsWith;

class WorkFolderTest : public testing::Test {
 protected:
  WorkFolderTest() {
    std::filesystem::remove_all(parent_);
    std::filesystem::create_directories(parent_);
  }

  // Makes a folder with files in a process that is killed.
  void LeaveFolder() const {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      WorkFolder work;
      if (!work.Create(parent_).ok()) _exit(1);
      std::filesystem::create_directories(work.path() + "/bundle/deep");
      std::ofstream(work.path() + "/bundle/deep/file") << "bytes";
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  const std::string parent_ = TestPath("parent");
};

TEST_F(WorkFolderTest, IsRemovedWithTheObject) {
  {
    WorkFolder work;
    ASSERT_THAT(work.Create(parent_), IsOk());
    EXPECT_THAT(work.path(), StartsWith(parent_ + "/footprint-try-"));
    EXPECT_TRUE(std::filesystem::is_directory(work.path()));
    std::ofstream(work.path() + "/file") << "bytes";
  }
  EXPECT_TRUE(std::filesystem::is_empty(parent_));
}

TEST_F(WorkFolderTest, WhatAKilledProcessLeftIsRemovedByTheNext) {
  LeaveFolder();
  EXPECT_FALSE(std::filesystem::is_empty(parent_));
  {
    WorkFolder work;
    ASSERT_THAT(work.Create(parent_), IsOk());
  }
  EXPECT_TRUE(std::filesystem::is_empty(parent_));
}

TEST_F(WorkFolderTest, WhatIsInUseOrNotOursStays) {
  WorkFolder other;
  ASSERT_THAT(other.Create(parent_), IsOk());
  WriteTestFile("parent/footprint-try-abcdef", "a file");
  const std::vector<std::string> kept = {"footprint-try",
                                         "footprint-try-long-name",
                                         "footprint-try-", "another-abcdef"};
  for (const std::string& each : kept) {
    std::filesystem::create_directory(absl::StrCat(parent_, "/", each));
  }
  std::filesystem::create_directory_symlink(parent_,
                                            parent_ + "/footprint-try-linked");
  WorkFolder work;
  ASSERT_THAT(work.Create(parent_), IsOk());
  EXPECT_TRUE(std::filesystem::exists(other.path()));
  EXPECT_TRUE(std::filesystem::exists(parent_ + "/footprint-try-abcdef"));
  EXPECT_TRUE(std::filesystem::is_symlink(parent_ + "/footprint-try-linked"));
  for (const std::string& each : kept) {
    EXPECT_TRUE(std::filesystem::exists(absl::StrCat(parent_, "/", each)));
  }
}

TEST_F(WorkFolderTest, ManyProcessesTakeNoFolderFromEachOther) {
  std::vector<pid_t> processes;
  for (int i = 0; i < 8; ++i) {
    processes.push_back(fork());
    ASSERT_GE(processes.back(), 0);
    if (processes.back() != 0) continue;
    for (int j = 0; j < 200; ++j) {
      WorkFolder work;
      if (!work.Create(parent_).ok()) _exit(1);
      std::ofstream file(work.path() + "/file");
      file << j;
      file.close();
      if (!file || !std::filesystem::exists(work.path() + "/file")) _exit(2);
    }
    _exit(0);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(parent_));
}

TEST_F(WorkFolderTest, SaysWhereItCannotBeMade) {
  WorkFolder work;
  EXPECT_THAT(work.Create(TestPath("no/such")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
