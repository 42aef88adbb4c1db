#include "footprint/base/memory/process_memory.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
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

// What the kernel has mapped of files with code in them, and of the anonymous
// memory that adjoins it, where static data that begins as zeros lies.
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

TEST(ProcessMemoryTest, TouchedPagesAreResident) {
  constexpr size_t kSize = 64 << 20;
  const ResidentBytes before = ReadResidentBytes();
  void* block = std::malloc(kSize);
  std::memset(block, 1, kSize);
  asm volatile("" : : "r"(block) : "memory");
  const ResidentBytes after = ReadResidentBytes();
  std::free(block);
  EXPECT_GE(after.anonymous_bytes - before.anonymous_bytes,
            int64_t{kSize} * 9 / 10);
  EXPECT_GE(after.peak_bytes, int64_t{kSize});
  EXPECT_GT(after.file_bytes, 0);
}

TEST(ProcessMemoryTest, SeesAChildThatWasNotMadeByFork) {
  EXPECT_FALSE(HasHadChildProcess());
  // The C library's system() makes its child without fork.
  ASSERT_EQ(std::system("true"), 0);
  EXPECT_TRUE(HasHadChildProcess());
}

// A benchmark that starts no child is not charged with those before it.
TEST(ChildProcessMarkTest, KnowsOnlyWhatCameAfterIt) {
  for (int round = 0; round < 20; ++round) {
    const ChildProcessMark before;
    EXPECT_FALSE(before.HasStartedSince());
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    // Ended, not waited for yet, and then waited for.
    EXPECT_TRUE(before.HasStartedSince());
    EXPECT_FALSE(ChildProcessMark().HasStartedSince());
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(before.HasStartedSince());
    EXPECT_FALSE(ChildProcessMark().HasStartedSince());
  }
}

TEST(ChildProcessMarkTest, AChildThatLivesOnIsCountedOnce) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const ChildProcessMark with_child;
  EXPECT_FALSE(with_child.HasStartedSince());
  // Of another thread.
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

// A block that is touched is resident, and counted where it belongs.
TEST(ProcessMemoryTest, WhatIsTouchedIsResident) {
  constexpr int64_t kBytes = 64 << 20;
  const ResidentBytes before = ReadResidentBytes();
  EXPECT_GT(before.file_bytes, 0);
  void* const block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kBytes);
  const ResidentBytes touched = ReadResidentBytes();
  munmap(block, kBytes);
  EXPECT_GE(touched.now_bytes - before.now_bytes, kBytes * 9 / 10);
  EXPECT_GE(touched.anonymous_bytes - before.anonymous_bytes, kBytes * 9 / 10);
  EXPECT_GE(touched.peak_bytes, touched.now_bytes);
  EXPECT_LT(ReadResidentBytes().now_bytes, touched.now_bytes - kBytes / 2);
}

}  // namespace
}  // namespace footprint
