// What memory_group.h promises.

#include "footprint/profiling/outside/memory_group.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kVersion1[] =
    "30 23 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "34 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "35 23 0:30 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw\n";
constexpr char kVersion2[] =
    "35 23 0:30 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
constexpr char kPart[] =
    "34 23 0:29 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(MemoryGroupTest, TheFirstVersionIsFoundByItsController) {
  const MemoryGroupPlace place =
      FindMemoryGroup(kVersion1, "4:cpu,cpuacct:/x\n9:memory:/a/b\n0::/c\n");
  EXPECT_EQ(place.folder, "/sys/fs/cgroup/memory/a/b");
  EXPECT_FALSE(place.is_version_2);
}

TEST(MemoryGroupTest, TheSecondVersionHasOneHierarchy) {
  const MemoryGroupPlace place = FindMemoryGroup(kVersion2, "0::/c\n");
  EXPECT_EQ(place.folder, "/sys/fs/cgroup/c");
  EXPECT_TRUE(place.is_version_2);
}

TEST(MemoryGroupTest, OfAPartTheGroupLiesBelowThePart) {
  EXPECT_EQ(FindMemoryGroup(kPart, "9:memory:/docker/1/a\n").folder,
            "/sys/fs/cgroup/memory/a");
  EXPECT_EQ(FindMemoryGroup(kPart, "9:memory:/\n").folder,
            "/sys/fs/cgroup/memory");
}

TEST(MemoryGroupTest, WithoutAControllerThereIsNoPlace) {
  EXPECT_EQ(FindMemoryGroup("", "").folder, "");
  EXPECT_EQ(FindMemoryGroup("garbage\n- cgroup\n", "9:memory:/\n").folder, "");
}

TEST(MemoryGroupTest, TheGroupCountsWhatItsProcessHeld) {
  constexpr size_t kBytes = size_t{16} << 20;
  const absl::StatusOr<std::unique_ptr<MemoryGroup>> group =
      MemoryGroup::Make();
  if (!group.ok()) {
    // As in Bazel's sandbox, where the file system is read-only.
    EXPECT_EQ(group.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(group.status().message()), "");
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    if (write((*group)->entrance(), "0", 1) != 1) _exit(1);
    std::vector<char> bytes(kBytes, 1);
    _exit(bytes[kBytes / 2] == 1 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const absl::StatusOr<int64_t> peak_bytes = (*group)->PeakBytes();
  ASSERT_TRUE(peak_bytes.ok());
  EXPECT_GE(*peak_bytes, static_cast<int64_t>(kBytes));
  EXPECT_LT(*peak_bytes, static_cast<int64_t>(4 * kBytes));
}

}  // namespace
}  // namespace footprint
