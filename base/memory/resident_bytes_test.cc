#include "footprint/base/memory/resident_bytes.h"

#include <grp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// A touched block is resident, and counts in the right figure.
TEST(ResidentBytesTest, WhatIsTouchedIsResident) {
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

// Addresses are counted to the page, even if nothing there was ever touched.
TEST(ResidentBytesTest, MappedAddressesAreCountedUntilTheyAreGivenBack) {
  const int64_t bytes = 7 * int64_t{getpagesize()};
  const int64_t before = ReadResidentBytes().mapped_bytes;
  ASSERT_GT(before, 0);
  void* const block =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int64_t with_block = ReadResidentBytes().mapped_bytes;
  ASSERT_NE(block, MAP_FAILED);
  ASSERT_EQ(munmap(block, bytes), 0);
  const int64_t after = ReadResidentBytes().mapped_bytes;
  EXPECT_EQ(with_block, before + bytes);
  EXPECT_EQ(after, before);
}

// Returns whether this process may choose its groups. Leaves them as they are.
bool MaySetGroups() {
  std::vector<gid_t> groups(static_cast<size_t>(getgroups(0, nullptr)));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  return count >= 0 &&
         setgroups(static_cast<size_t>(count), groups.data()) == 0;
}

// The kernel lists the groups of a process in one line in front of its memory.
TEST(ResidentBytesDeathTest, ManyGroupsHideNothing) {
  if (!MaySetGroups()) GTEST_SKIP() << "this process may not set its groups";
  EXPECT_EXIT(
      {
        std::vector<gid_t> groups(20000);
        std::iota(groups.begin(), groups.end(), 100000);
        if (setgroups(groups.size(), groups.data()) != 0) std::_Exit(1);
        const ResidentBytes bytes = ReadResidentBytes();
        const bool has_all = bytes.peak_bytes > 0 && bytes.now_bytes > 0 &&
                             bytes.anonymous_bytes > 0 &&
                             bytes.file_bytes > 0 && bytes.mapped_bytes > 0;
        std::fputs(has_all ? "all are there" : "some are missing", stderr);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^all are there$");
}

bool HasMainThreadEnded() {
  std::ifstream file("/proc/self/status");
  const std::string status{std::istreambuf_iterator<char>(file), {}};
  return status.find("\nState:\tZ") != std::string::npos;
}

// /proc/self is that of the main thread. If that has ended, it reports no
// memory.
TEST(ResidentBytesDeathTest, WhatTheKernelDoesNotTellIsZero) {
  EXPECT_EXIT(
      {
        alarm(60);  // ends this test if the main thread does not end
        std::thread([] {
          while (!HasMainThreadEnded()) usleep(1000);
          const ResidentBytes bytes = ReadResidentBytes();
          std::fprintf(stderr, "%ld %ld %ld %ld %ld\n", bytes.peak_bytes,
                       bytes.now_bytes, bytes.anonymous_bytes, bytes.file_bytes,
                       bytes.mapped_bytes);
          std::_Exit(0);
        }).detach();
        // This ends this thread only, unlike exit().
        syscall(SYS_exit, 0);
      },
      testing::ExitedWithCode(0), "^0 0 0 0 0\n$");
}

}  // namespace
}  // namespace footprint
