#include "footprint/base/machine/memory_group.h"

#include <limits.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;

constexpr char kVersion1[] =
    "30 23 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "34 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "35 23 0:30 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw\n";
constexpr char kVersion2[] =
    "35 23 0:30 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
constexpr char kPart[] =
    "34 23 0:29 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(MemoryGroupTest, TheFirstVersionIsFoundByItsController) {
  const MemoryGroupFolder folder =
      FindMemoryGroup(kVersion1, "4:cpu,cpuacct:/x\n9:memory:/a/b\n0::/c\n");
  EXPECT_EQ(folder.path, "/sys/fs/cgroup/memory/a/b");
  EXPECT_FALSE(folder.is_version_2);
}

TEST(MemoryGroupTest, TheSecondVersionHasOneHierarchy) {
  const MemoryGroupFolder folder = FindMemoryGroup(kVersion2, "0::/c\n");
  EXPECT_EQ(folder.path, "/sys/fs/cgroup/c");
  EXPECT_TRUE(folder.is_version_2);
}

TEST(MemoryGroupTest, OfAPartTheGroupLiesBelowThePart) {
  EXPECT_EQ(FindMemoryGroup(kPart, "9:memory:/docker/1/a\n").path,
            "/sys/fs/cgroup/memory/a");
  EXPECT_EQ(FindMemoryGroup(kPart, "9:memory:/\n").path,
            "/sys/fs/cgroup/memory");
}

TEST(MemoryGroupTest, WithoutAControllerThereIsNoPlace) {
  EXPECT_EQ(FindMemoryGroup("", "").path, "");
  EXPECT_EQ(FindMemoryGroup("garbage\n- cgroup\n", "9:memory:/\n").path, "");
}

// Makes /proc report that this process's group is of version 2 and is `folder`.
// Returns false if the process may not mount.
bool EnterVersion2(const std::string& folder) {
  const std::string mounts = folder + "/mounts";
  const std::string groups = folder + "/groups";
  std::ofstream(mounts) << "35 23 0:30 / " << folder
                        << " rw - cgroup2 cgroup2 rw\n";
  std::ofstream(groups) << "0::/\n";
  const int user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
  return unshare(CLONE_NEWNS | user) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount(mounts.c_str(), "/proc/self/mountinfo", nullptr, MS_BIND,
               nullptr) == 0 &&
         mount(groups.c_str(), "/proc/self/cgroup", nullptr, MS_BIND,
               nullptr) == 0;
}

bool CanEnterVersion2(const std::string& folder) {
  const pid_t child = fork();
  if (child == 0) _exit(EnterVersion2(folder) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

// The test runs in a process that has not looked for its group yet.
TEST(MemoryGroupDeathTest, SaysWhatVersion2LacksAndTheWayOut) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string folder = testing::TempDir() + "/version_2";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/cgroup.controllers") << "cpu io\n";
  if (!CanEnterVersion2(folder)) GTEST_SKIP() << "NOT TESTED: no namespaces";
  EXPECT_EXIT(
      {
        if (!EnterVersion2(folder)) _exit(2);
        const absl::Status status = MemoryGroup::Create().status();
        std::fprintf(stderr, "%s\n", status.ToString().c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0),
      "^FAILED_PRECONDITION: cgroup memory: the memory controller of cgroup v2 "
      "is not given to this group; under systemd: Delegate=memory\n");
}

// Returns the group that a process leaves when it ends without a destructor;
// empty if no group can be made.
std::string LeaveGroup() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const absl::StatusOr<MemoryGroup> group = MemoryGroup::Create();
    const std::string path = group.ok() ? group->path() : "";
    const ssize_t size = static_cast<ssize_t>(path.size());
    _exit(write(ends[1], path.data(), path.size()) == size ? 0 : 1);
  }
  close(ends[1]);
  char path[PATH_MAX];
  const ssize_t size = read(ends[0], path, sizeof(path));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return std::string(path, static_cast<size_t>(std::max<ssize_t>(0, size)));
}

TEST(MemoryGroupDeathTest, GroupsOfTheDeadGoAndThoseOfTheLivingStay) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string left = LeaveGroup();
  if (left.empty()) GTEST_SKIP() << "NOT TESTED: no group can be made";
  // Process 1 always runs.
  const std::string living = left.substr(0, left.rfind('/')) + "/footprint-1-0";
  mkdir(living.c_str(), 0755);
  EXPECT_EXIT(_exit(MemoryGroup::Create().ok() ? 0 : 1),
              testing::ExitedWithCode(0), "");
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(living));
  EXPECT_EQ(rmdir(living.c_str()), 0);
}

// Starts a child that joins the group and holds bytes. Returns how it ended.
int HoldInGroup(const MemoryGroup& group, int64_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    if (write(group.processes_descriptor(), "0\n", 2) != 2) _exit(2);
    std::vector<char> held(static_cast<size_t>(bytes), 1);
    _exit(held[held.size() / 2] == 1 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(MemoryGroupTest, TellsThePeakAndHoldsTheLimit) {
  absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(32 * kMiB);
  if (absl::IsFailedPrecondition(group.status())) {
    GTEST_SKIP() << "NOT TESTED: " << group.status();
  }
  ASSERT_THAT(group, IsOk());
  EXPECT_EQ(HoldInGroup(*group, 16 * kMiB), 0);
  EXPECT_GE(group->peak_bytes(), 16 * kMiB);
  EXPECT_LT(group->peak_bytes(), 24 * kMiB);
  EXPECT_EQ(group->killed_process_count(), 0);
  EXPECT_EQ(group->limit_hit_count(), 0);
  EXPECT_TRUE(WIFSIGNALED(HoldInGroup(*group, 64 * kMiB)));
  EXPECT_LE(group->peak_bytes(), 32 * kMiB);
  EXPECT_EQ(group->killed_process_count(), 1);
  EXPECT_GT(group->limit_hit_count(), 0);
  const std::string path = group->path();
  EXPECT_TRUE(std::filesystem::exists(path));
  { const MemoryGroup gone = *std::move(group); }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MemoryGroupTest, TellsThePeakWithoutALimit) {
  absl::StatusOr<MemoryGroup> group = MemoryGroup::Create();
  if (absl::IsFailedPrecondition(group.status())) {
    GTEST_SKIP() << "NOT TESTED: " << group.status();
  }
  ASSERT_THAT(group, IsOk());
  EXPECT_EQ(HoldInGroup(*group, 16 * kMiB), 0);
  EXPECT_EQ(HoldInGroup(*group, 64 * kMiB), 0);
  EXPECT_GE(group->peak_bytes(), 64 * kMiB);
  EXPECT_LT(group->peak_bytes(), 80 * kMiB);
  EXPECT_EQ(group->killed_process_count(), 0);
}

// Returns the group's bytes while a child does `work` and stays.
MemoryGroupUse UseDuring(const MemoryGroup& group,
                         const std::function<void()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (write(group.processes_descriptor(), "0\n", 2) != 2) _exit(2);
    work();
    (void)!write(ends[1], "x", 1);
    while (true) pause();
  }
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  const MemoryGroupUse use = group.ReadUse();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return use;
}

TEST(MemoryGroupTest, NeedsWhatNoProcessMapsButNoPageCache) {
  absl::StatusOr<MemoryGroup> group = MemoryGroup::Create();
  if (absl::IsFailedPrecondition(group.status())) {
    GTEST_SKIP() << "NOT TESTED: " << group.status();
  }
  ASSERT_THAT(group, IsOk());
  const std::vector<char> bytes(static_cast<size_t>(32 * kMiB), 1);
  const MemoryGroupUse in_memory = UseDuring(*group, [&bytes] {
    const int file = memfd_create("held", 0);
    (void)!write(file, bytes.data(), bytes.size());
  });
  EXPECT_GE(in_memory.needed_bytes, 32 * kMiB);
  EXPECT_LE(in_memory.needed_bytes, 40 * kMiB);
  EXPECT_LE(in_memory.needed_bytes, in_memory.used_bytes);
  const std::string path = testing::TempDir() + "/cached";
  const MemoryGroupUse cached = UseDuring(*group, [&bytes, &path] {
    std::ofstream(path).write(bytes.data(),
                              static_cast<std::streamsize>(bytes.size()));
  });
  std::filesystem::remove(path);
  EXPECT_LE(cached.needed_bytes, 8 * kMiB);
  EXPECT_LE(cached.needed_bytes, cached.used_bytes);
}

}  // namespace
}  // namespace footprint
