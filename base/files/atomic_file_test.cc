#include "footprint/base/files/atomic_file.h"

#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

bool Exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

// What a path's file is written under.
std::string PartialOf(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // 0 without a folder
  return absl::StrCat(path.substr(0, name), ".", path.substr(name),
                      ".footprint-partial");
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
  EXPECT_FALSE(Exists(PartialOf(path)));
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
    EXPECT_TRUE(Exists(PartialOf(path)));
  }
  EXPECT_FALSE(Exists(PartialOf(path)));
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
  EXPECT_EQ(ReadTestFile(PartialOf(path)).size(), 100'000);
  // What it left is no hindrance, and none of it is left over.
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(Append(*file, "new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_FALSE(Exists(PartialOf(path)));
}

// A user may have files of such names, and another program may write them.
TEST(AtomicFileTest, LeavesAUsersPartialFileAlone) {
  const std::string path = TestPath("own");
  const std::string own = WriteTestFile("own.partial", "precious");
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(Append(*file, "new").ok());
  EXPECT_TRUE(Exists(PartialOf(path)));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_EQ(ReadTestFile(own), "precious");
  // Beside what is written, also where that has no folder in its name.
  ASSERT_EQ(chdir(testing::TempDir().c_str()), 0);
  file = AtomicFile::Create("bare", 0);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(Exists(".bare.footprint-partial"));
}

// What stands under the partial file's name is another's.
TEST(AtomicFileTest, FollowsNoLinkOfThePartialFilesName) {
  const std::string path = TestPath("planted");
  const std::string victim = WriteTestFile("victim", "precious");
  for (const std::string& target : {victim, TestPath("not_there")}) {
    ASSERT_EQ(symlink(target.c_str(), PartialOf(path).c_str()), 0);
    const absl::Status status = AtomicFile::Create(path, 0).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("/.planted.footprint-partial: is a symbolic link"));
    ASSERT_EQ(unlink(PartialOf(path).c_str()), 0);
  }
  EXPECT_EQ(ReadTestFile(victim), "precious");
  EXPECT_FALSE(Exists(TestPath("not_there")));
  ASSERT_EQ(mkfifo(PartialOf(path).c_str(), 0600), 0);
  EXPECT_THAT(std::string(AtomicFile::Create(path, 0).status().message()),
              HasSubstr("/.planted.footprint-partial: is no regular file"));
  unlink(PartialOf(path).c_str());
}

TEST(AtomicFileTest, LeavesOtherNamesOfAStalePartialFileAlone) {
  const std::string path = TestPath("linked");
  const std::string victim = WriteTestFile("other_name", "precious");
  ASSERT_EQ(link(victim.c_str(), PartialOf(path).c_str()), 0);
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(Append(*file, "new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_EQ(ReadTestFile(victim), "precious");
}

TEST(AtomicFileTest, CommitsNothingButWhatItWrote) {
  const std::string path = WriteTestFile("swapped", "old");
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(unlink(PartialOf(path).c_str()), 0);
    WriteTestFile(".swapped.footprint-partial", "foreign");
    EXPECT_THAT(std::string(file->Commit().message()),
                HasSubstr("was removed or replaced while it was written"));
  }
  EXPECT_EQ(ReadTestFile(path), "old");
  EXPECT_EQ(ReadTestFile(PartialOf(path)), "foreign");
}

struct stat StatusOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

absl::Status Replace(const std::string& path, const std::string& bytes) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
  if (!file.ok()) return file.status();
  const absl::Status status = Append(*file, bytes);
  return status.ok() ? file->Commit() : status;
}

TEST(AtomicFileTest, KeepsThePermissionsOfTheFileItReplaces) {
  const mode_t before = umask(022);
  const std::string path = WriteTestFile("private", "old");
  for (const mode_t mode : {0600, 0640, 0444, 0666, 0755}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 0);
    ASSERT_TRUE(file.ok()) << file.status();
    // Nor may others look while it is written.
    EXPECT_EQ(StatusOf(PartialOf(path)).st_mode & 07777, mode);
    ASSERT_TRUE(file->Commit().ok());
    EXPECT_EQ(StatusOf(path).st_mode & 07777, mode);
  }
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_TRUE(Replace(path, "first").ok());
  EXPECT_EQ(StatusOf(path).st_mode & 07777, 0644);
  umask(before);
}

constexpr uid_t kOtherUser = 1000;
constexpr gid_t kOtherGroup = 1001;

TEST(AtomicFileTest, KeepsTheOwnerOfTheFileItReplaces) {
  const std::string path = WriteTestFile("owned", "old");
  if (chown(path.c_str(), kOtherUser, kOtherGroup) != 0) {
    GTEST_SKIP() << "only root gives files to others, and not in a sandbox";
  }
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  const absl::Status replaced = Replace(path, "new");
  ASSERT_TRUE(replaced.ok()) << replaced;
  EXPECT_EQ(ReadTestFile(path), "new");
  EXPECT_EQ(StatusOf(path).st_uid, kOtherUser);
  EXPECT_EQ(StatusOf(path).st_gid, kOtherGroup);
  EXPECT_EQ(StatusOf(path).st_mode & 07777, 0600);
}

// As another user, in a folder where everybody may write.
void ReplaceRootsFile(const std::string& folder) {
  if (chmod(folder.c_str(), 0777) != 0 || chdir(folder.c_str()) != 0 ||
      setgroups(0, nullptr) != 0 || setgid(kOtherGroup) != 0 ||
      setuid(kOtherUser) != 0) {
    _exit(2);
  }
  fprintf(stderr, "%s\n", Replace("roots", "new").ToString().c_str());
  _exit(Exists(".roots.footprint-partial") ? 1 : 0);
}

TEST(AtomicFileDeathTest, RefusesAFileWhoseOwnerItCannotKeep) {
  const std::string folder = TestPath("shared");
  ASSERT_EQ(mkdir(folder.c_str(), 0777), 0);
  const std::string path = WriteTestFile("shared/roots", "old");
  if (chown(path.c_str(), kOtherUser, kOtherGroup) != 0 ||
      chown(path.c_str(), 0, 0) != 0) {
    GTEST_SKIP() << "only root becomes another user, and not in a sandbox";
  }
  EXPECT_EXIT(ReplaceRootsFile(folder), testing::ExitedWithCode(0),
              "PERMISSION_DENIED.*roots: belongs to user 0.*another name");
  EXPECT_EQ(ReadTestFile(path), "old");
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
    ASSERT_TRUE(replaced.ok()) << replaced;
    EXPECT_TRUE(S_ISLNK(StatusOf(name).st_mode));
    EXPECT_TRUE(S_ISREG(StatusOf(blob).st_mode));
    EXPECT_EQ(ReadTestFile(blob), "by " + name);
  }
  // A link to a file that is yet to be.
  ASSERT_EQ(unlink(blob.c_str()), 0);
  ASSERT_TRUE(Replace(outer, "made").ok());
  EXPECT_EQ(ReadTestFile(blob), "made");
  const std::string loop = TestPath("loop");
  ASSERT_EQ(symlink("loop", loop.c_str()), 0);
  EXPECT_EQ(Replace(loop, "x").code(), absl::StatusCode::kInvalidArgument);
}

TEST(AtomicFileTest, RefusesWhatIsNoName) {
  for (const std::string& name : {std::string(), std::string("a\0b", 3)}) {
    EXPECT_EQ(AtomicFile::Create(name, 0).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// A file size limit is refused as a full disk is, and needs no disk of its own.
// Nothing is done about the signal that the system sends besides: it is the
// file's to see that nobody dies of it.
void WriteBeyondLimit(const std::string& path) {
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
        _exit(Exists(PartialOf(path)) ? 1 : 0);
      },
      testing::ExitedWithCode(0),
      "RESOURCE_EXHAUSTED.*cannot be written.*is as it was: raise the limit "
      "of file sizes");
  EXPECT_EQ(ReadTestFile(path), "old");
}

// Refused before the first byte, and the program's own signals are its own.
void AskBeyondLimit(const std::string& path) {
  const struct rlimit limit = {50'000, 50'000};
  setrlimit(RLIMIT_FSIZE, &limit);
  fprintf(stderr, "%s\n",
          AtomicFile::Create(path, 50'001).status().ToString().c_str());
  if (!AtomicFile::Create(path, 50'000).ok()) _exit(1);
  raise(SIGXFSZ);
}

TEST(AtomicFileDeathTest, AsksForNoMoreThanTheLimitOfFileSizes) {
  EXPECT_EXIT(AskBeyondLimit(WriteTestFile("limited", "old")),
              testing::KilledBySignal(SIGXFSZ),
              "RESOURCE_EXHAUSTED.*has no room.*50001 bytes are wanted");
}

// More than any file system lets a file have.
TEST(AtomicFileTest, SaysSoBeforeWritingWhenTheDiskIsTooSmall) {
  const std::string path = WriteTestFile("small", "old");
  const absl::Status status =
      AtomicFile::Create(path, int64_t{1} << 60).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("1152921504606846976 bytes are wanted"));
  EXPECT_FALSE(Exists(PartialOf(path)));
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
