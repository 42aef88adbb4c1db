#include "footprint/base/memory/process_memory.h"

#include <dirent.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// Static data of a known size, so that a part of the image is known.
char static_data[1 << 20];

TEST(ProcessMemoryTest, TheImageHoldsCodeAndStaticData) {
  static_data[0] = 1;
  EXPECT_GT(LoadedImageBytes(), int64_t{sizeof(static_data)});
  EXPECT_EQ(LoadedImageBytes() % sysconf(_SC_PAGESIZE), 0);
  EXPECT_EQ(LoadedImageBytes(), LoadedImageBytes());
}

// Bytes of files with code that the kernel has mapped, and of the anonymous
// memory next to them, which holds static data that begins as zeros.
struct MappedImages {
  int64_t file_bytes = 0;
  int64_t adjoining_bytes = 0;
};

MappedImages ReadMappedImages() {
  struct Line {
    uint64_t begin, end;
    std::string permissions, path;
  };
  std::vector<Line> lines;
  std::set<std::string> with_code;
  std::ifstream maps("/proc/self/maps");
  for (std::string text; std::getline(maps, text);) {
    Line line;
    char dash;
    std::string offset, device, inode;
    std::istringstream fields(text);
    fields >> std::hex >> line.begin >> dash >> line.end >> line.permissions >>
        offset >> device >> inode >> line.path;
    if (line.path[0] == '/' && line.permissions[2] == 'x') {
      with_code.insert(line.path);
    }
    lines.push_back(line);
  }
  MappedImages images;
  uint64_t image_end = 0;
  for (const Line& line : lines) {
    const int64_t size = static_cast<int64_t>(line.end - line.begin);
    if (with_code.count(line.path) > 0) {
      if (line.permissions != "---p") images.file_bytes += size;
      image_end = line.end;
    } else if (line.begin == image_end && line.path[0] != '/') {
      images.adjoining_bytes += size;
    }
  }
  return images;
}

TEST(ProcessMemoryTest, TheImageIsWhatTheKernelMapped) {
  const MappedImages images = ReadMappedImages();
  ASSERT_GT(images.file_bytes, 0);
  EXPECT_GE(LoadedImageBytes(), images.file_bytes);
  EXPECT_LE(LoadedImageBytes(), images.file_bytes + images.adjoining_bytes);
}

TEST(ProcessMemoryTest, SeesAChildThatWasNotMadeByFork) {
  EXPECT_FALSE(HasHadChildProcess());
  // The C library's system() makes its child without fork.
  ASSERT_EQ(std::system("true"), 0);
  EXPECT_TRUE(HasHadChildProcess());
}

// The test runs in a process that has not waited for any child, and an earlier
// call may have left an error in errno.
TEST(ProcessMemoryTest, SeesAChildThatLivesOn) {
  EXPECT_EXIT(
      {
        if (HasHadChildProcess()) std::_Exit(2);
        const pid_t child = fork();
        if (child == 0) {
          pause();
          std::_Exit(0);
        }
        errno = ECHILD;
        const bool is_seen = HasHadChildProcess();
        kill(child, SIGKILL);
        std::_Exit(is_seen ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// A benchmark that starts no child is not charged for earlier children.
TEST(ChildProcessMarkTest, KnowsOnlyWhatCameAfterIt) {
  for (int round = 0; round < 20; ++round) {
    const ChildProcessMark before;
    EXPECT_FALSE(before.HasStartedSince());
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    // The child has ended: first it is not waited for yet, then it is.
    EXPECT_TRUE(before.HasStartedSince());
    EXPECT_FALSE(ChildProcessMark().HasStartedSince());
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(before.HasStartedSince());
    EXPECT_FALSE(ChildProcessMark().HasStartedSince());
  }
}

// This is posix_spawn(3) with SIGCHLD ignored: such a child leaves no trace.
TEST(ChildProcessMarkTest, AProcessThatLosesItsChildrenMayHaveHadOne) {
  const ChildProcessMark before;
  ASSERT_NE(std::signal(SIGCHLD, SIG_IGN), SIG_ERR);
  std::string name = "true";
  char* const arguments[] = {&name[0], nullptr};
  pid_t child = 0;
  ASSERT_EQ(
      posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ),
      0);
  EXPECT_EQ(waitpid(child, nullptr, 0), -1);  // returns when the child is gone
  EXPECT_TRUE(before.HasStartedSince());
  ASSERT_NE(std::signal(SIGCHLD, SIG_DFL), SIG_ERR);
  EXPECT_FALSE(ChildProcessMark().HasStartedSince());
}

int64_t OpenDescriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  int64_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST(ChildProcessMarkTest, LeavesNothingOpen) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const int64_t before = OpenDescriptors();
  EXPECT_FALSE(ChildProcessMark().HasStartedSince());
  EXPECT_EQ(OpenDescriptors(), before);
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

// The alarm ends this test if a call waits for the child, which never ends.
TEST(ChildProcessMarkTest, DoesNotWaitForAChildThatLivesOn) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  alarm(60);  // ends this test if a call waits
  EXPECT_FALSE(ChildProcessMark().HasStartedSince());
  EXPECT_TRUE(HasHadChildProcess());
  alarm(0);
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(ChildProcessMarkTest, AChildThatLivesOnIsCountedOnce) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const ChildProcessMark with_child;
  EXPECT_FALSE(with_child.HasStartedSince());
  // Another thread starts a process.
  pid_t second = 0;
  std::thread([&second] {
    second = fork();
    if (second == 0) _exit(0);
  }).join();
  EXPECT_TRUE(with_child.HasStartedSince());
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(waitpid(second, nullptr, 0), second);
}

}  // namespace
}  // namespace footprint
