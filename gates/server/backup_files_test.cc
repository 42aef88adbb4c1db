#include "footprint/gates/server/backup_files.h"

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/server/audit_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;

// Makes an empty folder of this name, and returns its path.
std::string NewFolder(const std::string& name) {
  const std::string folder = TestPath(name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(BackUpFilesTest, FilesKeepTheirNamesAndBytes) {
  const std::string folder = NewFolder("backup");
  // The second one is larger than what is copied at once.
  const std::string large = std::string(150000, 'x') + "end";
  ASSERT_THAT(BackUpFiles({WriteTestFile("tokens", "a\n"),
                           WriteTestFile("audit.jsonl", large),
                           WriteTestFile("empty", ""), TestPath("missing")},
                          folder),
              IsOk());
  EXPECT_EQ(ReadTestFile(folder + "/tokens"), "a\n");
  EXPECT_EQ(ReadTestFile(folder + "/audit.jsonl"), large);
  EXPECT_EQ(ReadTestFile(folder + "/empty"), "");
  EXPECT_FALSE(std::filesystem::exists(folder + "/missing"));
  struct stat about = {};
  ASSERT_EQ(stat((folder + "/tokens").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST(BackUpFilesTest, WhatCannotBeCopiedIsNamed) {
  const std::string folder = NewFolder("refused");
  EXPECT_THAT(
      BackUpFiles({NewFolder("a_folder")}, folder),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a_folder")));
  const std::string file = WriteTestFile("once", "1");
  ASSERT_THAT(BackUpFiles({file}, folder), IsOk());
  WriteTestFile("once", "2");
  EXPECT_THAT(
      BackUpFiles({file}, folder),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("refused/once")));
  EXPECT_EQ(ReadTestFile(folder + "/once"), "1");
  EXPECT_THAT(BackUpFiles({file}, TestPath("no_such_folder")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(BackUpFilesTest, ALogThatGrowsIsCopiedInWholeLines) {
  const std::string path = TestPath("growing.jsonl");
  std::filesystem::remove(path);
  std::atomic<bool> is_over = false;
  // Each line takes several pages, so a reader could see a part of it.
  std::thread writer([&] {
    for (int i = 0; i < 300; ++i) {
      EXPECT_THAT(
          AppendToAuditLog(path, 0,
                           {"a", "submit", {{"x", std::string(20000, 'x')}}}),
          IsOk());
    }
    is_over = true;
  });
  while (!is_over) {
    const std::string folder = NewFolder("growing");
    EXPECT_THAT(BackUpFiles({path}, folder), IsOk());
    const std::string copy = folder + "/growing.jsonl";
    if (!std::filesystem::exists(copy)) continue;
    EXPECT_THAT(ReadTestFile(copy), AnyOf("", EndsWith("}\n")));
  }
  writer.join();
}

}  // namespace
}  // namespace footprint
