#include "footprint/base/files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/refuse_system_call.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

bool Exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

// Returns the name under which a path's file is written before Commit.
std::string MakePartialPath(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // 0 without a folder
  return absl::StrCat(path.substr(0, name), ".", path.substr(name),
                      ".footprint-partial");
}

TEST(AtomicFileTest, ReplacesTheFileOnCommit) {
  const std::string path = WriteTestFile("replaced", "old and longer");
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(file->Append("ne"), IsOk());
  EXPECT_EQ(ReadTestFile(path), "old and longer");
  AtomicFile moved = *std::move(file);
  ASSERT_THAT(moved.Append("w"), IsOk());
  ASSERT_THAT(moved.Commit(), IsOk());
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_FALSE(Exists(MakePartialPath(path)));
}

// 255 bytes is the longest name that a file may have.
TEST(AtomicFileTest, ANameMayHave255Bytes) {
  for (const size_t size : {190, 191, 192, 237, 254, 255}) {
    const std::string path = TestPath(std::string(size, 'x'));
    for (const char* text : {"old", "new"}) {
      absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
      ASSERT_THAT(file, IsOk()) << size;
      ASSERT_THAT(file->Append(text), IsOk());
      EXPECT_THAT(AtomicFile::Create(path),
                  StatusIs(absl::StatusCode::kUnavailable))
          << "two at once";
      ASSERT_THAT(file->Commit(), IsOk());
      EXPECT_EQ(ReadTestFile(path), text);
    }
  }
  const absl::Status status =
      AtomicFile::Create(TestPath(std::string(256, 'x'))).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("File name too long; shorten"));
}

TEST(AtomicFileTest, KeepsTheOrderOfSmallAndLargePieces) {
  const std::string path = TestPath("pieces");
  AtomicFileOptions options;
  options.expected_bytes = 400'000;
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
  ASSERT_THAT(file, IsOk());
  std::string expected;
  for (const int size : {1, 40'000, 3, 32'768, 32'767, 0, 2, 100'000}) {
    const std::string piece(size,
                            static_cast<char>('a' + expected.size() % 26));
    ASSERT_THAT(file->Append(piece), IsOk());
    expected += piece;
  }
  ASSERT_THAT(file->Commit(), IsOk());
  EXPECT_EQ(ReadTestFile(path), expected);
}

TEST(AtomicFileTest, LeavesNothingWithoutCommit) {
  const std::string path = WriteTestFile("abandoned", "old");
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
    ASSERT_THAT(file->Append("new"), IsOk());
    EXPECT_TRUE(Exists(MakePartialPath(path)));
  }
  EXPECT_FALSE(Exists(MakePartialPath(path)));
  EXPECT_EQ(ReadTestFile(path), "old");
}

// A user may have a file with such a name, and another program may write it.
TEST(AtomicFileTest, LeavesAUsersPartialFileAlone) {
  const std::string path = TestPath("own");
  const std::string own = WriteTestFile("own.partial", "precious");
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(file->Append("new"), IsOk());
  EXPECT_TRUE(Exists(MakePartialPath(path)));
  ASSERT_THAT(file->Commit(), IsOk());
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_EQ(ReadTestFile(own), "precious");
  // The partial file is beside the file, also if the path has no folder.
  ASSERT_EQ(chdir(testing::TempDir().c_str()), 0);
  file = AtomicFile::Create("bare");
  ASSERT_THAT(file, IsOk());
  EXPECT_TRUE(Exists(".bare.footprint-partial"));
}

struct stat ReadStatus(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

absl::Status Replace(const std::string& path, const std::string& bytes) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.status();
  const absl::Status status = file->Append(bytes);
  return status.ok() ? file->Commit() : status;
}

TEST(AtomicFileTest, KeepsThePermissionsOfTheFileItReplaces) {
  const mode_t before = umask(022);
  const std::string path = WriteTestFile("private", "old");
  for (const mode_t mode : {0600, 0640, 0666, 0755}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
    ASSERT_THAT(file, IsOk());
    // Other users may not read it while it is written, either.
    EXPECT_EQ(ReadStatus(MakePartialPath(path)).st_mode & 07777, mode);
    ASSERT_THAT(file->Commit(), IsOk());
    EXPECT_EQ(ReadStatus(path).st_mode & 07777, mode);
  }
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_THAT(Replace(path, "first"), IsOk());
  EXPECT_EQ(ReadStatus(path).st_mode & 07777, 0644);
  umask(before);
}

TEST(AtomicFileTest, WritesThroughLinksAndKeepsThem) {
  ASSERT_EQ(mkdir(TestPath("blobs").c_str(), 0777), 0);
  ASSERT_EQ(mkdir(TestPath("snapshot").c_str(), 0777), 0);
  const std::string blob = WriteTestFile("blobs/abc", "old");
  const std::string path = TestPath("snapshot/model");
  const std::string outer = TestPath("outer");
  ASSERT_EQ(symlink("../blobs/abc", path.c_str()), 0);
  ASSERT_EQ(symlink(path.c_str(), outer.c_str()), 0);
  for (const std::string& name : {path, outer}) {
    const absl::Status replaced = Replace(name, "by " + name);
    ASSERT_THAT(replaced, IsOk());
    EXPECT_TRUE(S_ISLNK(ReadStatus(name).st_mode));
    EXPECT_TRUE(S_ISREG(ReadStatus(blob).st_mode));
    EXPECT_EQ(ReadTestFile(blob), "by " + name);
  }
  // This link leads to a file that does not exist yet.
  ASSERT_EQ(unlink(blob.c_str()), 0);
  ASSERT_THAT(Replace(outer, "made"), IsOk());
  EXPECT_EQ(ReadTestFile(blob), "made");
  const std::string loop = TestPath("loop");
  ASSERT_EQ(symlink("loop", loop.c_str()), 0);
  EXPECT_THAT(Replace(loop, "x"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(AtomicFileDeathTest, ReplacesNothingWhenTheDiskCannotBeFlushed) {
  const std::string path = WriteTestFile("unflushed", "old");
  EXPECT_EXIT(
      {
        if (!RefuseFlushes()) std::_Exit(3);
        const absl::Status status = Replace(path, "new");
        std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "unflushed: cannot be flushed: Input/output error");
  EXPECT_EQ(ReadTestFile(path), "old");
  EXPECT_FALSE(Exists(MakePartialPath(path)));
}

// A daemon closes standard input, so the next descriptor is 0, which must work.
TEST(AtomicFileDeathTest, NeedsNoStandardInput) {
  const std::string path = WriteTestFile("daemon", "old");
  EXPECT_EXIT(
      {
        AtomicFileOptions options;
        options.to_disk = ToDisk::kNoFsync;
        absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
        if (!file.ok() || !file->Append("new").ok()) std::_Exit(3);
        close(STDIN_FILENO);
        const absl::Status status = file->Commit();
        std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
        std::_Exit(status.ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(ReadTestFile(path), "new");
}

TEST(AtomicFileTest, RefusesWhatIsNoName) {
  for (const std::string& name : {std::string(), std::string("a\0b", 3)}) {
    EXPECT_THAT(AtomicFile::Create(name),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(AtomicFileTest, WritesSpecialFilesAsTheyAre) {
  AtomicFileOptions options;
  options.special_files = SpecialFiles::kWriteAsTheyAre;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  // This is like /dev/stdout, which may be a link to a pipe without a name.
  absl::StatusOr<AtomicFile> file =
      AtomicFile::Create(absl::StrCat("/proc/self/fd/", ends[1]), options);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(file->Append("through"), IsOk());
  ASSERT_THAT(file->Commit(), IsOk());
  char bytes[8] = {};
  EXPECT_EQ(read(ends[0], bytes, sizeof(bytes)), 7);
  EXPECT_STREQ(bytes, "through");
  for (const int end : ends) close(end);
  // A descriptor's file is written at its position, since other owners of the
  // descriptor write there too.
  const std::string log = WriteTestFile("log", "");
  const int opened = open(log.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(write(opened, "before ", 7), 7);
  file = AtomicFile::Create(absl::StrCat("/dev/fd/", opened), options);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(file->Append("here"), IsOk());
  ASSERT_THAT(file->Commit(), IsOk());
  ASSERT_EQ(write(opened, " after", 6), 6);
  close(opened);
  EXPECT_EQ(ReadTestFile(log), "before here after");
  // A regular file is replaced even with this option.
  const std::string path = WriteTestFile("regular", "old");
  file = AtomicFile::Create(path, options);
  ASSERT_THAT(file->Append("new"), IsOk());
  EXPECT_EQ(ReadTestFile(path), "old");
  ASSERT_THAT(file->Commit(), IsOk());
  EXPECT_EQ(ReadTestFile(path), "new");
}

}  // namespace
}  // namespace footprint
