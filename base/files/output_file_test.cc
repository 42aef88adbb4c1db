// What output_file.h promises, a full disk included.

#include "footprint/base/files/output_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool Exists(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0;
}

TEST(OutputFileTest, WritesShortAndLongPieces) {
  const std::string path = testing::TempDir() + "/pieces";
  std::string expected;
  OutputFile file(path);
  for (size_t size : {size_t{1}, size_t{0}, OutputFile::kBufferBytes - 1,
                      OutputFile::kBufferBytes, OutputFile::kBufferBytes + 1,
                      10 * OutputFile::kBufferBytes, size_t{7}}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    file.Write(piece);
    expected += piece;
  }
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_EQ(ReadAll(path), expected);
  EXPECT_FALSE(Exists(path + ".partial"));
}

TEST(OutputFileTest, LeavesTheOldFileUntilCommit) {
  const std::string path = testing::TempDir() + "/old";
  std::ofstream(path) << "old";
  {
    OutputFile file(path);
    file.Write("new");
    EXPECT_EQ(ReadAll(path), "old");
  }
  EXPECT_EQ(ReadAll(path), "old");
  EXPECT_FALSE(Exists(path + ".partial"));
}

TEST(OutputFileTest, WritesThroughNoLinkUnderThePartialName) {
  const std::string path = testing::TempDir() + "/linked";
  const std::string target = testing::TempDir() + "/target_of_link";
  std::ofstream(target) << "kept";
  ASSERT_EQ(symlink(target.c_str(), (path + ".partial").c_str()), 0);
  {
    OutputFile file(path);
    file.Write("new");
    const absl::Status status = file.Commit();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("linked.partial: is no regular file"));
  }
  EXPECT_EQ(ReadAll(target), "kept");
  EXPECT_FALSE(Exists(path));
  // It is not ours to remove.
  EXPECT_TRUE(Exists(path + ".partial"));
}

TEST(OutputFileTest, WaitsForNoReaderOfAPipeUnderThePartialName) {
  const std::string path = testing::TempDir() + "/piped";
  ASSERT_EQ(mkfifo((path + ".partial").c_str(), 0600), 0);
  alarm(20);  // the end of a test that waits
  const absl::Status status = OutputFile(path).Commit();
  alarm(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Exists(path));
}

TEST(OutputFileTest, TakesThePlaceOfAFileLeftUnderThePartialName) {
  const std::string path = testing::TempDir() + "/left_over";
  std::ofstream(path + ".partial") << "longer than what follows";
  OutputFile file(path);
  file.Write("new");
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_EQ(ReadAll(path), "new");
}

TEST(OutputFileTest, ReportsAMissingFolder) {
  OutputFile file(testing::TempDir() + "/missing/file");
  file.Write("text");
  const absl::Status status = file.Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("create the folder"));
}

TEST(OutputFileTest, ReportsAFullDevice) {
  OutputFile file("/dev/full");
  file.Write("text");
  const absl::Status status = file.Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
  EXPECT_TRUE(Exists("/dev/full"));
}

TEST(OutputFileTest, KeepsTheOldFileWhenTheLimitOfFileSizeIsReached) {
  const std::string path = testing::TempDir() + "/limited";
  std::ofstream(path) << "old";
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  rlimit limited = unlimited;
  limited.rlim_cur = 100000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
  OutputFile file(path);
  for (int i = 0; i < 200000; ++i) file.Write("x");
  const absl::Status status = file.Commit();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReadAll(path), "old");
  EXPECT_FALSE(Exists(path + ".partial"));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
