#include "footprint/trainer_manager/runtime/swap_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/files/anonymous_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

std::string Folder() { return ::testing::TempDir(); }

int FilesIn(const std::string& folder) {
  int files = 0;
  DIR* entries = opendir(folder.c_str());
  while (const dirent* entry = readdir(entries)) files += entry != nullptr;
  closedir(entries);
  return files;
}

TEST(SwapFileTest, GivesBackWhatItTook) {
  const int before = FilesIn(Folder());
  auto file = SwapFile::Create(Folder(), {0, 4096}, 4096 + 100);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(FilesIn(Folder()), before);
  const std::string first(4000, 'a');
  const std::string second(100, 'b');
  ASSERT_THAT((*file)->Write(0, first.data(), 4000), IsOk());
  ASSERT_THAT((*file)->Write(1, second.data(), 100), IsOk());
  std::string read(4000, ' ');
  ASSERT_THAT((*file)->Read(0, &read[0], 4000), IsOk());
  EXPECT_EQ(read, first);
  const std::string again(100, 'c');
  ASSERT_THAT((*file)->Write(1, again.data(), 100), IsOk());
  read.resize(100);
  ASSERT_THAT((*file)->Read(1, &read[0], 100), IsOk());
  EXPECT_EQ(read, again);
}

TEST(SwapFileTest, IsReservedWhole) {
  auto file = SwapFile::Create(Folder(), {0}, 1 << 20);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(lseek(AnonymousFile(), 0, SEEK_END), 1 << 20);
}

TEST(SwapFileTest, NoticesDamage) {
  auto file = SwapFile::Create(Folder(), {0, 4096}, 8192);
  ASSERT_THAT(file, IsOk());
  std::string bytes(4096, 'x');
  ASSERT_THAT((*file)->Write(1, bytes.data(), 4096), IsOk());
  const int descriptor = AnonymousFile();
  ASSERT_EQ(pwrite(descriptor, "y", 1, 4096 + 77), 1);
  absl::Status status = (*file)->Read(1, &bytes[0], 4096);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the swap file is damaged: the 4096 bytes at byte 4096 "
                        "are not those that were written"));
  ASSERT_EQ(ftruncate(descriptor, 5000), 0);
  status = (*file)->Read(1, &bytes[0], 4096);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the swap file: ends at byte 5000"));
}

TEST(SwapFileTest, RefusesAFolderThatIsNone) {
  const auto file = SwapFile::Create("/nowhere/at/all", {0}, 10);
  EXPECT_THAT(file, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("folder \"/nowhere/at/all\": cannot hold a swap file"));
}

// A write beyond the limit would end the program.
TEST(SwapFileTest, RefusesWhatIsLargerThanAFileMayBe) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto file = SwapFile::Create(Folder(), {0}, 8192);
  const auto fitting = SwapFile::Create(Folder(), {0}, 4096);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(file, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("cannot reserve 8192 bytes"));
  EXPECT_THAT(fitting, IsOk());
}

TEST(SwapFileTest, RefusesWhatNoDiskHolds) {
  const auto file = SwapFile::Create(Folder(), {0}, int64_t{1} << 60);
  EXPECT_THAT(file, StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace footprint
