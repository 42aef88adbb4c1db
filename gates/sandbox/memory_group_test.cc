#include "footprint/gates/sandbox/memory_group.h"

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

}  // namespace
}  // namespace footprint
