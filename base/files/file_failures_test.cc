// Failures with files, tested once for all users of these files: a killed
// process, a full disk, files that must not be read or written, interrupts,
// links and pipes in the way, and two writers at once.

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FileFailuresTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = TestPath("file_failures_XXXXXX");
    ASSERT_NE(mkdtemp(&folder_[0]), nullptr);
    // Names are relative, since other users may not enter the whole path.
    ASSERT_EQ(chdir(folder_.c_str()), 0);
    ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  }

  std::string Put(const std::string& name, const std::string& bytes,
                  mode_t mode = 0644) const {
    EXPECT_THAT(ReplaceFile(name, bytes, ToDisk::kNoFsync), IsOk());
    EXPECT_EQ(chmod(name.c_str(), mode), 0);
    return name;
  }

  // Returns all names in the folder, with hidden ones.
  std::set<std::string> Files() const {
    std::set<std::string> files;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) files.insert(entry->d_name);
    closedir(folder);
    files.erase(".");
    files.erase("..");
    return files;
  }

  std::string folder_;
};

absl::Status Write(const std::string& path, const std::string& bytes,
                   const AtomicFileOptions& options = {}) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
  if (!file.ok()) return file.status();
  const absl::Status status = file->Append(bytes);
  return status.ok() ? file->Commit() : status;
}

std::string MakePartialPath(const std::string& name) {
  return absl::StrCat(".", name, ".footprint-partial");
}

struct stat ReadStatus(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

// Returns the status that `work` returns in a process of its own.
absl::Status InChild(const std::function<absl::Status()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status status = work();
    const std::string text = absl::StrCat(
        std::string(1, static_cast<char>(status.code())), status.message());
    WriteOn(ends[1], text.data(), static_cast<int64_t>(text.size()));
    _exit(0);
  }
  close(ends[1]);
  std::string text(1 << 12, '\0');
  text.resize(static_cast<size_t>(
      ReadOn(ends[0], static_cast<int64_t>(text.size()), &text[0])));
  close(ends[0]);
  int exit_status = 0;
  waitpid(child, &exit_status, 0);
  EXPECT_TRUE(WIFEXITED(exit_status));
  if (text.empty()) return absl::AbortedError("the child said nothing");
  return absl::Status(static_cast<absl::StatusCode>(text[0]), text.substr(1));
}

// A limit of file sizes fails like a full disk, and needs no disk of its own.
// The system also sends a signal, which these tests do not handle: the library
// must keep it from ending the process.
void LimitFileSize(rlim_t bytes) {
  const struct rlimit limit = {bytes, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// --- Killed

// The two contents have one size, and a reader must see one of them.
std::string Content(int round) {
  return std::string(300'000, round % 2 == 0 ? 'a' : 'b');
}

TEST_F(FileFailuresTest, AKilledProcessLeavesOneOfBothFilesWhole) {
  Put("killed", Content(0));
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0;; ++i) {
        if (!ReplaceFile("killed", Content(i), ToDisk::kNoFsync).ok()) {
          _exit(1);
        }
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    const absl::StatusOr<std::string> bytes = ReadWholeFile("killed");
    ASSERT_THAT(bytes, IsOk());
    EXPECT_TRUE(*bytes == Content(0) || *bytes == Content(1));
  }
  // Partial files of killed processes do not disturb, and none remains.
  ASSERT_THAT(Write("killed", "new"), IsOk());
  EXPECT_EQ(*ReadWholeFile("killed"), "new");
  EXPECT_THAT(Files(), ElementsAre("killed"));
}

TEST_F(FileFailuresTest, AProcessKilledInTheMiddleChangesNothing) {
  Put("killed", "old");
  const pid_t child = fork();
  if (child == 0) {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create("killed");
    if (!file.ok() || !file->Append(std::string(100'000, 'x')).ok()) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(*ReadWholeFile("killed"), "old");
  EXPECT_EQ(ReadTestFile(MakePartialPath("killed")).size(), 100'000u);
  ASSERT_THAT(Write("killed", "new"), IsOk());
  EXPECT_EQ(*ReadWholeFile("killed"), "new");
  EXPECT_THAT(Files(), ElementsAre("killed"));
}

// --- Full

TEST_F(FileFailuresTest, AFullDiskLosesNothing) {
  Put("full", "old");
  const std::string large(100'000, 'x');
  for (const auto& write : std::initializer_list<std::function<absl::Status()>>{
           [&] { return Write("full", large); },
           [&] { return ReplaceFile("full", large, ToDisk::kFlush); },
           [&] { return ReplaceFile("full", large, ToDisk::kNoFsync); }}) {
    const absl::Status status = InChild([&] {
      LimitFileSize(50'000);
      return write();
    });
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("full: cannot be written: File too large; 100000 "
                          "bytes are wanted in ., and the old file is as it "
                          "was: raise the limit of file sizes"));
    EXPECT_EQ(*ReadWholeFile("full"), "old");
    EXPECT_THAT(Files(), ElementsAre("full"));
  }
}

TEST_F(FileFailuresTest, TheFirstFailureIsKept) {
  Put("full", "old");
  const absl::Status status = InChild([] {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create("full");
    LimitFileSize(50'000);
    const bool refused = !file->Append(std::string(100'000, 'x')).ok();
    LimitFileSize(RLIM_INFINITY);
    if (!refused || file->Append("x").ok()) return absl::OkStatus();
    return file->Commit();
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(*ReadWholeFile("full"), "old");
}

// The file is refused before its first byte, and the program keeps its own
// signals.
TEST_F(FileFailuresTest, AsksForNoMoreThanTheLimitOfFileSizes) {
  AtomicFileOptions options;
  options.expected_bytes = 50'001;
  const absl::Status status = InChild([&] {
    LimitFileSize(50'000);
    return Write("limited", "x", options);
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has no room: File too large; 50001 bytes"));
  // With a limit of 0 not even one byte is possible.
  options.expected_bytes = 1;
  EXPECT_THAT(InChild([&] {
                LimitFileSize(0);
                return Write("limited", "", options);
              }),
              StatusIs(absl::StatusCode::kResourceExhausted));
  options.expected_bytes = 50'000;
  EXPECT_EXIT(
      {
        LimitFileSize(50'000);
        if (Write("limited", "x", options).ok()) raise(SIGXFSZ);
      },
      testing::KilledBySignal(SIGXFSZ), "");
}

// No file system has files of this size.
TEST_F(FileFailuresTest, SaysSoBeforeWritingWhenTheDiskIsTooSmall) {
  Put("small", "old");
  AtomicFileOptions options;
  options.expected_bytes = int64_t{1} << 60;
  const absl::Status status = Write("small", "x", options);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("1152921504606846976 bytes are wanted"));
  EXPECT_EQ(*ReadWholeFile("small"), "old");
  EXPECT_THAT(Files(), ElementsAre("small"));
}

TEST_F(FileFailuresTest, AFullDeviceIsReportedAndStays) {
  AtomicFileOptions options;
  options.special_files = SpecialFiles::kWriteAsTheyAre;
  const absl::Status status = Write("/dev/full", "x", options);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/dev/full: cannot be written: No space left"));
  EXPECT_TRUE(S_ISCHR(ReadStatus("/dev/full").st_mode));
}

// --- Forbidden

constexpr uid_t kOtherUser = 1000;
constexpr gid_t kOtherGroup = 1001;

// Root may do everything, so the rest of the process runs as another user.
void LeaveRoot() {
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 ||
      setresgid(kOtherGroup, kOtherGroup, kOtherGroup) != 0 ||
      setresuid(kOtherUser, kOtherUser, kOtherUser) != 0) {
    fprintf(stderr, "root cannot become another user: run without a sandbox\n");
    _exit(2);
  }
}

absl::Status AsAnotherUser(const std::function<absl::Status()>& work) {
  return InChild([&] {
    LeaveRoot();
    return work();
  });
}

TEST_F(FileFailuresTest, WhatMustNotBeReadIsPermissionDenied) {
  Put("secret", "bytes", 0000);
  for (const auto& read : std::initializer_list<std::function<absl::Status()>>{
           [] { return OpenRegularFile("secret").status(); },
           [] { return ReadWholeFile("secret").status(); },
           [] { return FileLock::TryAcquire("secret").status(); },
           [] { return FileLock::Acquire("secret").status(); }}) {
    const absl::Status status = AsAnotherUser(read);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("secret: cannot be opened: Permission denied"));
  }
}

std::initializer_list<std::function<absl::Status(const std::string&)>>
Writers() {
  static const std::initializer_list<
      std::function<absl::Status(const std::string&)>>
      kWriters = {
          [](const std::string& path) { return Write(path, "new"); },
          [](const std::string& path) {
            return ReplaceFile(path, "new", ToDisk::kFlush);
          },
          [](const std::string& path) { return CheckReplaceable(path); }};
  return kWriters;
}

TEST_F(FileFailuresTest, WhatMustNotBeWrittenStaysAsItIs) {
  ASSERT_EQ(mkdir("closed", 0755), 0);
  Put("closed/old", "old", 0666);
  ASSERT_EQ(chmod("closed", 0555), 0);
  for (const auto& write : Writers()) {
    for (const char* path : {"closed/old", "closed/new"}) {
      const absl::Status status = AsAnotherUser([&] { return write(path); });
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied));
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat(path, ": cannot be created: ")));
    }
  }
  ASSERT_EQ(chmod("closed", 0755), 0);
  EXPECT_EQ(*ReadWholeFile("closed/old"), "old");
}

// This holds also for root, whom the file system would not stop.
TEST_F(FileFailuresTest, WhatIsReadOnlyStaysAsItIs) {
  Put("kept", "old", 0444);
  for (const auto& write : Writers()) {
    for (const absl::Status& status :
         {write("kept"), AsAnotherUser([&] { return write("kept"); })}) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied));
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("kept: is marked read-only"));
    }
  }
  EXPECT_EQ(*ReadWholeFile("kept"), "old");
  EXPECT_THAT(Files(), ElementsAre("kept"));
}

TEST_F(FileFailuresTest, KeepsTheOwnerOrRefuses) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files to others";
  Put("owned", "old", 0600);
  ASSERT_EQ(chown("owned", kOtherUser, kOtherGroup), 0)
      << "not even root, in a sandbox: run without one";
  ASSERT_THAT(Write("owned", "new"), IsOk());
  EXPECT_EQ(*ReadWholeFile("owned"), "new");
  EXPECT_EQ(ReadStatus("owned").st_uid, kOtherUser);
  EXPECT_EQ(ReadStatus("owned").st_gid, kOtherGroup);
  EXPECT_EQ(ReadStatus("owned").st_mode & 07777, 0600u);
  // Everybody may write to this file and beside it, but cannot give a file to
  // root.
  Put("roots", "old", 0666);
  for (const auto& write : Writers()) {
    const absl::Status status = AsAnotherUser([&] { return write("roots"); });
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("roots: belongs to user 0"));
  }
  EXPECT_EQ(*ReadWholeFile("roots"), "old");
  EXPECT_THAT(Files(), ElementsAre("owned", "roots"));
}

// --- Not a regular file

// Nobody will write to the pipe, so a test that waits for it never ends.
TEST_F(FileFailuresTest, WhatIsNoRegularFileIsLeftAlone) {
  ASSERT_EQ(mkfifo("pipe", 0600), 0);
  for (const std::string& path :
       {std::string("pipe"), std::string("."), std::string("/dev/null")}) {
    for (const absl::Status& status :
         {OpenRegularFile(path).status(), ReadWholeFile(path).status(),
          Write(path, "x"), ReplaceFile(path, "x", ToDisk::kFlush),
          CheckReplaceable(path)}) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("not a regular file"));
    }
  }
  EXPECT_TRUE(S_ISFIFO(ReadStatus("pipe").st_mode));
  EXPECT_THAT(Files(), ElementsAre("pipe"));
}

TEST_F(FileFailuresTest, WhatIsMissingIsNotFound) {
  Put("file", "");
  for (const char* path : {"none/f", "file/f"}) {
    for (const absl::Status& status :
         {OpenRegularFile(path).status(), ReadWholeFile(path).status(),
          FileLock::TryAcquire(path).status()}) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    }
    for (const auto& write : Writers()) {
      const absl::Status status = write(path);
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
      EXPECT_THAT(std::string(status.message()), HasSubstr("make the folder"));
    }
  }
}

// --- Links

// A link or pipe of the partial file's name belongs to someone else.
TEST_F(FileFailuresTest, NoLinkOfThePartialFilesNameIsFollowed) {
  Put("victim", "precious");
  for (const char* target : {"victim", "not_there"}) {
    ASSERT_EQ(symlink(target, MakePartialPath("planted").c_str()), 0);
    const absl::Status status = Write("planted", "x");
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(".planted.footprint-partial: is a symbolic link"));
    ASSERT_EQ(unlink(MakePartialPath("planted").c_str()), 0);
  }
  ASSERT_EQ(mkfifo(MakePartialPath("planted").c_str(), 0600), 0);
  EXPECT_THAT(std::string(Write("planted", "x").message()),
              HasSubstr(".planted.footprint-partial: is no regular file"));
  ASSERT_EQ(unlink(MakePartialPath("planted").c_str()), 0);
  EXPECT_EQ(*ReadWholeFile("victim"), "precious");
  EXPECT_THAT(Files(), ElementsAre("victim"));
}

TEST_F(FileFailuresTest, OtherNamesOfAStalePartialFileKeepTheirBytes) {
  Put("other_name", "precious");
  ASSERT_EQ(link("other_name", MakePartialPath("linked").c_str()), 0);
  ASSERT_THAT(Write("linked", "new"), IsOk());
  EXPECT_EQ(*ReadWholeFile("linked"), "new");
  EXPECT_EQ(*ReadWholeFile("other_name"), "precious");
}

TEST_F(FileFailuresTest, ALinkThatLeadsNowhereIsRefused) {
  ASSERT_EQ(symlink("loop", "loop"), 0);
  EXPECT_THAT(Write("loop", "x"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(OpenRegularFile("loop"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  // A link to a file that does not exist yet makes that file.
  ASSERT_EQ(symlink("target", "link"), 0);
  ASSERT_THAT(Write("link", "new"), IsOk());
  EXPECT_EQ(*ReadWholeFile("target"), "new");
  EXPECT_TRUE(S_ISLNK(ReadStatus("link").st_mode));
}

// The system also follows 40 links, but the library must know where the last
// one ends.
TEST_F(FileFailuresTest, AChainOfLinksIsFollowedAsFarAsTheSystemDoes) {
  std::string target = "target";
  for (int i = 1; i <= 40; ++i) {
    const std::string link = absl::StrCat("link", i);
    ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
    target = link;
  }
  ASSERT_THAT(Write("link39", "new"), IsOk());
  EXPECT_EQ(*ReadWholeFile("target"), "new");
  EXPECT_THAT(Write("link40", "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// A killed program left this file read-only, and it may be removed.
TEST_F(FileFailuresTest, AReadOnlyPartialFileIsNoHindrance) {
  Put(MakePartialPath("stale"), "half", 0444);
  EXPECT_THAT(AsAnotherUser([] { return Write("stale", "new"); }), IsOk());
  EXPECT_EQ(*ReadWholeFile("stale"), "new");
}

TEST_F(FileFailuresTest, NothingButWhatWasWrittenIsCommitted) {
  Put("swapped", "old");
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create("swapped");
    ASSERT_THAT(file, IsOk());
    ASSERT_EQ(unlink(MakePartialPath("swapped").c_str()), 0);
    Put(MakePartialPath("swapped"), "foreign");
    EXPECT_THAT(std::string(file->Commit().message()),
                HasSubstr("was removed or replaced while it was written"));
  }
  EXPECT_EQ(*ReadWholeFile("swapped"), "old");
  EXPECT_EQ(*ReadWholeFile(MakePartialPath("swapped")), "foreign");
}

// --- Interrupts

std::atomic<int> interrupts;

// While it lives, the thread that made it is interrupted a thousand times a
// second, and no system call restarts by itself. Threads that it starts are not
// interrupted.
class Interrupted {
 public:
  Interrupted() {
    interrupts = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { ++interrupts; };
    sigaction(SIGALRM, &action, &before_);
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Interrupted() {
    const struct itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_;
};

// Starts a thread that gets no signal of this process.
std::thread Undisturbed(const std::function<void()>& work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

void Wait() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

TEST_F(FileFailuresTest, InterruptedReadsAndWritesGoOn) {
  constexpr int64_t kPieces = 20;
  constexpr int64_t kPieceBytes = 1 << 16;  // a pipe's capacity
  const std::string piece(kPieceBytes, 'x');
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  std::string bytes(kPieces * kPieceBytes, ' ');
  {
    std::thread writer = Undisturbed([&] {
      for (int64_t i = 0; i < kPieces; ++i) {
        Wait();
        WriteOn(ends[1], piece.data(), kPieceBytes);
      }
    });
    const Interrupted interrupted;
    EXPECT_EQ(ReadOn(ends[0], kPieces * kPieceBytes, &bytes[0]),
              kPieces * kPieceBytes);
    EXPECT_GT(interrupts, 5);
    writer.join();
  }
  EXPECT_EQ(bytes, std::string(kPieces * kPieceBytes, 'x'));
  std::string read(bytes.size(), ' ');
  {
    std::thread reader = Undisturbed([&] {
      for (int64_t i = 0; i < kPieces; ++i) {
        Wait();
        ReadOn(
            ends[0], kPieceBytes,
            &read[static_cast<size_t>(i) * static_cast<size_t>(kPieceBytes)]);
      }
    });
    const Interrupted interrupted;
    EXPECT_TRUE(WriteOn(ends[1], bytes.data(), kPieces * kPieceBytes));
    EXPECT_GT(interrupts, 5);
    reader.join();
  }
  EXPECT_EQ(read, bytes);
  for (const int end : ends) close(end);
}

// ThreadSanitizer delays a signal until a call that it knows, and it does not
// know flock. Then it runs the handler once for all signals.
#ifdef __SANITIZE_THREAD__
constexpr int kInterruptsOfFiftyMilliseconds = 1;
#else
constexpr int kInterruptsOfFiftyMilliseconds = 6;
#endif

TEST_F(FileFailuresTest, AnInterruptedWaitForALockGoesOn) {
  absl::StatusOr<FileLock> held = FileLock::Acquire("lock");
  ASSERT_THAT(held, IsOk());
  std::atomic<bool> released{false};
  std::thread holder = Undisturbed([&] {
    for (int i = 0; i < 10; ++i) Wait();
    released = true;
    const FileLock last = *std::move(held);
  });
  {
    const Interrupted interrupted;
    const absl::StatusOr<FileLock> lock = FileLock::Acquire("lock");
    EXPECT_THAT(lock, IsOk());
    EXPECT_TRUE(released);
    EXPECT_GE(interrupts, kInterruptsOfFiftyMilliseconds);
  }
  holder.join();
}

// --- Two at once

TEST_F(FileFailuresTest, TheSecondOfTwoWritersIsRefusedOrWaits) {
  absl::StatusOr<AtomicFile> first = AtomicFile::Create("contended");
  ASSERT_THAT(first, IsOk());
  const absl::Status second = Write("contended", "second");
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(second.message()),
              HasSubstr("another process is writing it"));
  std::atomic<bool> committed{false};
  std::thread third([&] {
    const absl::Status status =
        ReplaceFile("contended", "third", ToDisk::kNoFsync);
    EXPECT_THAT(status, IsOk());
    EXPECT_TRUE(committed);
  });
  for (int i = 0; i < 10; ++i) Wait();
  // The refused writer did not remove the first writer's partial file.
  ASSERT_THAT(first->Append("first"), IsOk());
  committed = true;
  EXPECT_THAT(first->Commit(), IsOk());
  third.join();
  EXPECT_EQ(*ReadWholeFile("contended"), "third");
  EXPECT_THAT(Files(), ElementsAre("contended"));
}

TEST_F(FileFailuresTest, ManyWritersLeaveOneFileWhole) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([writer] {
      for (int i = 0; i < 20; ++i) {
        const absl::Status status =
            ReplaceFile("many", Content(writer), ToDisk::kNoFsync);
        EXPECT_THAT(status, IsOk());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string bytes = *ReadWholeFile("many");
  EXPECT_TRUE(bytes == Content(0) || bytes == Content(1));
  EXPECT_THAT(Files(), ElementsAre("many"));
}

TEST_F(FileFailuresTest, AbandonedFilesLeaveNothing) {
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create("abandoned");
    ASSERT_THAT(file->Append("x"), IsOk());
  }
  EXPECT_THAT(Files(), IsEmpty());
}

}  // namespace
}  // namespace footprint
