#include "footprint/base/machine/memory_group.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
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

// A child that joins and holds bytes; how it ended.
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

}  // namespace
}  // namespace footprint
