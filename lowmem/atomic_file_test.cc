#include "footprint/lowmem/atomic_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/test_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

bool Exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

absl::Status Append(AtomicFile& file, const std::string& bytes) {
  return file.Append(bytes.data(), static_cast<int64_t>(bytes.size()));
}

TEST(AtomicFileTest, ReplacesTheFileOnCommit) {
  const std::string path = WriteTestFile("replaced", "old and longer");
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(Append(*file, "ne").ok());
  EXPECT_EQ(ReadTestFile(path), "old and longer");
  AtomicFile moved = *std::move(file);
  ASSERT_TRUE(Append(moved, "w").ok());
  ASSERT_TRUE(moved.Commit().ok());
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_FALSE(Exists(path + ".partial"));
}

TEST(AtomicFileTest, KeepsTheOrderOfSmallAndLargePieces) {
  const std::string path = TestPath("pieces");
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 400'000);
  ASSERT_TRUE(file.ok());
  std::string expected;
  for (const int size : {1, 70'000, 3, 65'536, 65'535, 0, 2, 100'000}) {
    const std::string piece(size,
                            static_cast<char>('a' + expected.size() % 26));
    ASSERT_TRUE(Append(*file, piece).ok());
    expected += piece;
  }
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadTestFile(path), expected);
}

TEST(AtomicFileTest, LeavesNothingWithoutCommit) {
  const std::string path = WriteTestFile("abandoned", "old");
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
    ASSERT_TRUE(Append(*file, "new").ok());
    EXPECT_TRUE(Exists(path + ".partial"));
  }
  EXPECT_FALSE(Exists(path + ".partial"));
  EXPECT_EQ(ReadTestFile(path), "old");
}

TEST(AtomicFileTest, LetsOneProcessWriteAtATime) {
  const std::string path = TestPath("contended");
  absl::StatusOr<AtomicFile> first = AtomicFile::Create(path, 0);
  ASSERT_TRUE(first.ok());
  const absl::Status second = AtomicFile::Create(path, 0).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.message()),
              HasSubstr("another process is writing it"));
  // The refused one did not remove what the first is writing.
  ASSERT_TRUE(Append(*first, "first").ok());
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(ReadTestFile(path), "first");
  EXPECT_TRUE(AtomicFile::Create(path, 0).ok());
}

TEST(AtomicFileTest, SurvivesAKilledProcess) {
  const std::string path = WriteTestFile("killed", "old");
  const pid_t child = fork();
  if (child == 0) {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
    if (!file.ok() || !Append(*file, std::string(100'000, 'x')).ok()) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(ReadTestFile(path), "old");
  EXPECT_EQ(ReadTestFile(path + ".partial").size(), 100'000);
  // What it left is no hindrance, and none of it is left over.
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(Append(*file, "new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_FALSE(Exists(path + ".partial"));
}

// A file size limit is refused as a full disk is, and needs no disk of its own.
void WriteBeyondLimit(const std::string& path) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {50'000, 50'000};
  setrlimit(RLIMIT_FSIZE, &limit);
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
  absl::Status status = file.status();
  if (file.ok()) status = Append(*file, std::string(100'000, 'x'));
  fprintf(stderr, "%s\n", status.ToString().c_str());
}

TEST(AtomicFileDeathTest, LeavesTheOldFileWhenTheDiskIsFull) {
  const std::string path = WriteTestFile("full", "old");
  EXPECT_EXIT(
      {
        WriteBeyondLimit(path);
        _exit(Exists(path + ".partial") ? 1 : 0);
      },
      testing::ExitedWithCode(0),
      "RESOURCE_EXHAUSTED.*cannot be written.*is as it was: make room");
  EXPECT_EQ(ReadTestFile(path), "old");
}

// More than any file system lets a file have.
TEST(AtomicFileTest, SaysSoBeforeWritingWhenTheDiskIsTooSmall) {
  const std::string path = WriteTestFile("small", "old");
  const absl::Status status =
      AtomicFile::Create(path, int64_t{1} << 60).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("1152921504606846976 bytes are wanted"));
  EXPECT_FALSE(Exists(path + ".partial"));
  EXPECT_EQ(ReadTestFile(path), "old");
}

TEST(AtomicFileTest, NamesAMissingFolder) {
  const absl::Status status =
      AtomicFile::Create(TestPath("missing/file"), 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("make the folder"));
}

TEST(AtomicFileTest, ReplacesNoFolder) {
  EXPECT_EQ(AtomicFile::Create(TestPath("."), 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace footprint
