#include "footprint/gates/server/backup_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

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

TEST(BackUpFilesTest, ALineThatIsBeingAppendedIsCopiedCompletely) {
  const std::string path = WriteTestFile("growing.jsonl", "first\n");
  FileDescriptor log(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  ASSERT_TRUE(LockFile(log.get(), WhenLocked::kRefuse));
  ASSERT_TRUE(WriteOn(log.get(), "sec", 3));
  std::thread writer([&log] {
    absl::SleepFor(absl::Milliseconds(300));
    EXPECT_TRUE(WriteOn(log.get(), "ond\n", 4));
    log = FileDescriptor();
  });
  const std::string folder = NewFolder("growing");
  EXPECT_THAT(BackUpFiles({path}, folder), IsOk());
  writer.join();
  EXPECT_EQ(ReadTestFile(folder + "/growing.jsonl"), "first\nsecond\n");
}

}  // namespace
}  // namespace footprint
