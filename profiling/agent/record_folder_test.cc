#include "footprint/profiling/agent/record_folder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

std::string NewFolder(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name;
  EXPECT_EQ(mkdir(path.c_str(), 0700), 0);
  return path;
}

bool CanCreateFile(const char* name) {
  const int file =
      openat(RecordFolder(), name, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

TEST(RecordFolderTest, IsOutOfTheWay) {
  ASSERT_TRUE(OpenRecordFolder(NewFolder("high").c_str()));
  EXPECT_GE(RecordFolder(), 1000);
}

TEST(RecordFolderTest, IsOutOfTheWayUnderALowLimit) {
  const std::string path = NewFolder("low_limit");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const bool is_open = OpenRecordFolder(path.c_str());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(is_open);
  EXPECT_EQ(RecordFolder(), 99);
}

TEST(RecordFolderTest, IsOpenedAgainWhereItWasClosed) {
  ASSERT_TRUE(OpenRecordFolder(NewFolder("closed").c_str()));
  close(RecordFolder());
  EXPECT_TRUE(CanCreateFile("a"));
}

TEST(RecordFolderTest, AnotherFolderIsNotTakenForIt) {
  const std::string folder = NewFolder("own");
  const std::string other = NewFolder("other");
  ASSERT_TRUE(OpenRecordFolder(folder.c_str()));
  const int file = open(other.c_str(), O_PATH | O_DIRECTORY);
  ASSERT_GE(dup2(file, RecordFolder()), 0);
  EXPECT_TRUE(CanCreateFile("a"));
  EXPECT_EQ(access((folder + "/a").c_str(), F_OK), 0);
  EXPECT_NE(access((other + "/a").c_str(), F_OK), 0);
}

TEST(RecordFolderTest, AFolderInItsPlaceIsNotTakenForIt) {
  const std::string folder = NewFolder("gone");
  ASSERT_TRUE(OpenRecordFolder(folder.c_str()));
  close(RecordFolder());
  ASSERT_EQ(rename(folder.c_str(), (folder + ".moved").c_str()), 0);
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  EXPECT_EQ(RecordFolder(), -1);
}

TEST(RecordFolderTest, NoFolder) {
  EXPECT_FALSE(OpenRecordFolder((testing::TempDir() + "/none").c_str()));
  EXPECT_FALSE(OpenRecordFolder(std::string(5000, 'a').c_str()));
}

TEST(RecordFolderTest, LimitOfFileSizes) {
  EXPECT_TRUE(FileMayHave(4096));
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_TRUE(FileMayHave(4096));
  EXPECT_FALSE(FileMayHave(4097));
  limit.rlim_cur = before;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

}  // namespace
}  // namespace footprint::profiling_internal
