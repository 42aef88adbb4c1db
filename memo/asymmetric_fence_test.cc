#include "footprint/memo/asymmetric_fence.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

// Makes membarrier fail as on a kernel that lacks it.
bool TakeMembarrierAway() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// This runs before any test that chooses a fence in this process.
TEST(AsymmetricFenceDeathTest, FallsBackWhereTheKernelRefuses) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        if (!TakeMembarrierAway()) _exit(3);
        const FenceKind kind = ChooseFence();
        AsymmetricFence::Full();
        AsymmetricFence::Heavy();
        _exit(kind == FenceKind::kSequentiallyConsistent ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

#ifndef FOOTPRINT_MEMO_THREAD_SANITIZER
TEST(AsymmetricFenceDeathTest, FailsLoudlyIfTheKernelChangesItsMind) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        if (ChooseFence() == FenceKind::kMembarrier) {
          TakeMembarrierAway();
          AsymmetricFence::Heavy();
        }
        abort();
      },
      "now refuses it");
}
#endif

TEST(AsymmetricFenceTest, ChoosesOnce) {
  EXPECT_EQ(ChooseFence(), ChooseFence());
}

TEST(AsymmetricFenceTest, CanBeForcedToTheFallback) {
  ForceSequentiallyConsistentFenceForTesting();
  EXPECT_EQ(ChooseFence(), FenceKind::kSequentiallyConsistent);
}

}  // namespace
}  // namespace footprint::memo_internal
