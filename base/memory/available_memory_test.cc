#include "footprint/base/memory/available_memory.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// A machine whose kernel files are in a folder.
class Machine {
 public:
  explicit Machine(const std::string& name)
      : root_(testing::TempDir() + "/" + name) {
    mkdir(root_.c_str(), 0700);
  }
  Machine& Write(const std::string& path, const std::string& text) {
    for (size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      mkdir((root_ + path.substr(0, slash)).c_str(), 0700);
    }
    std::ofstream(root_ + path) << text;
    return *this;
  }
  AvailableMemory Read() const {
    const auto memory = ReadAvailableMemory(root_);
    EXPECT_THAT(memory, IsOk());
    return memory.ok() ? *memory : AvailableMemory();
  }
  const std::string& root() const { return root_; }

 private:
  const std::string root_;
};

constexpr char kMeminfo[] =
    "MemTotal:  9000 kB\nMemFree: 10 kB\nMemAvailable:    8000 kB\n";

TEST(AvailableMemoryTest, WithoutGroupsItIsTheMachines) {
  Machine machine("plain");
  machine.Write("/proc/meminfo", kMeminfo);
  EXPECT_EQ(machine.Read().bytes, 8000 * 1024);
  EXPECT_EQ(machine.Read().limited_by, "the machine");
}

TEST(AvailableMemoryTest, TheNarrowestGroupAboveCounts) {
  Machine machine("second");
  machine.Write("/proc/meminfo", kMeminfo)
      .Write("/proc/self/cgroup", "0::/outer/inner\n")
      .Write("/sys/fs/cgroup/outer/memory.max", "1000000\n")
      .Write("/sys/fs/cgroup/outer/memory.current", "700000\n")
      .Write("/sys/fs/cgroup/outer/memory.stat",
             "anon 1\ninactive_file 50000\nactive_file 3\n")
      .Write("/sys/fs/cgroup/outer/inner/memory.max", "max\n")
      .Write("/sys/fs/cgroup/outer/inner/memory.current", "100\n");
  EXPECT_EQ(machine.Read().bytes, 350000);
  EXPECT_EQ(machine.Read().limited_by, "the control group /outer");
}

TEST(AvailableMemoryTest, GroupsOfTheFirstVersionCountToo) {
  Machine machine("first");
  machine.Write("/proc/meminfo", kMeminfo)
      .Write("/proc/self/cgroup", "9:cpu,cpuacct:/x\n4:memory:/job\n0::/\n")
      .Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n")
      .Write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6000\n");
  EXPECT_EQ(machine.Read().bytes, 0);
  EXPECT_EQ(machine.Read().limited_by, "the control group /job");
}

TEST(AvailableMemoryTest, ALimitAboveTheMachineDoesNotCount) {
  Machine machine("wide");
  machine.Write("/proc/meminfo", kMeminfo)
      .Write("/proc/self/cgroup", "0::/\n")
      .Write("/sys/fs/cgroup/memory.max", "9223372036854771712\n")
      .Write("/sys/fs/cgroup/memory.current", "1\n");
  EXPECT_EQ(machine.Read().limited_by, "the machine");
}

// The limit is the last page that 63 bits can count, which is how the kernel
// writes "no limit".
TEST(AvailableMemoryTest, SumsStayWithinTheirRange) {
  Machine machine("largest");
  machine
      .Write("/proc/meminfo",
             "MemAvailable: 9223372036854775807 kB\n"
             "SwapFree: 9223372036854775807 kB\n")
      .Write("/proc/self/cgroup", "4:memory:/\n")
      .Write("/sys/fs/cgroup/memory/memory.limit_in_bytes",
             "9223372036854771712\n")
      .Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n")
      .Write("/sys/fs/cgroup/memory/memory.stat",
             "total_inactive_file 999999\n");
  EXPECT_EQ(machine.Read().limited_by, "the machine");
  EXPECT_GT(machine.Read().bytes, int64_t{1} << 62);
  EXPECT_GT(ReadFreeMachineBytes(machine.root()), int64_t{1} << 62);
}

TEST(AvailableMemoryTest, AFileThatCannotBeReadIsEmpty) {
  Machine machine("folder");
  machine.Write("/proc/meminfo/x", "");
  EXPECT_THAT(ReadAvailableMemory(machine.root()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(AvailableMemoryTest, SaysThatNothingIsKnown) {
  EXPECT_THAT(ReadAvailableMemory(Machine("empty").root()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(AvailableMemoryTest, WhatTheMachineHasFreeCountsSwapAndNoGroup) {
  Machine machine("free");
  machine.Write("/proc/self/cgroup", "0::/job\n")
      .Write("/sys/fs/cgroup/job/memory.max", "5\n")
      .Write("/sys/fs/cgroup/job/memory.current", "4\n");
  EXPECT_EQ(ReadFreeMachineBytes(machine.root()), absl::nullopt);
  machine.Write("/proc/meminfo",
                "MemTotal: 9 kB\nMemAvailable:   7 kB\nSwapFree:   2 kB\n");
  EXPECT_EQ(ReadFreeMachineBytes(machine.root()), int64_t{9 * 1024});
}

TEST(AvailableMemoryTest, ThisMachineHasSome) {
  const auto memory = ReadAvailableMemory();
  ASSERT_THAT(memory, IsOk());
  EXPECT_GT(memory->bytes, 0);
}

}  // namespace
}  // namespace footprint
