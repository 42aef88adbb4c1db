#include "footprint/trainer_manager/training/state_lock.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(StateLockTest, ASecondTrainingIsRefusedUntilTheFirstEnds) {
  const std::string path = TestPath("state.safetensors");
  const std::string other = TestPath("other.safetensors");
  auto first = LockTrainingState(path);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(LockTrainingState(path).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(path + ": another training is using it")));
  EXPECT_THAT(LockTrainingState(other).status(), IsOk());
  { const FileLock ended = *std::move(first); }
  EXPECT_THAT(LockTrainingState(path).status(), IsOk());
}

TEST(StateLockTest, AProcessThatIsKilledLeavesNoLock) {
  const std::string path = TestPath("killed.safetensors");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = LockTrainingState(path);
    const char byte = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_THAT(LockTrainingState(path).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_THAT(LockTrainingState(path).status(), IsOk());
  close(ready[0]);
  close(ready[1]);
}

// Runs in a child, since root could open every file.
TEST(StateLockTest, AnotherUsersLockIsNotPassedOver) {
  if (geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root changes its user";
  const std::string shared = TestPath("shared");
  ASSERT_EQ(mkdir(shared.c_str(), 0700), 0);
  ASSERT_EQ(chmod(shared.c_str(), 0777), 0);
  const std::string path = shared + "/state.safetensors";
  ASSERT_THAT(LockTrainingState(path), IsOk());
  ASSERT_EQ(chmod((path + ".lock").c_str(), 0600), 0);
  const pid_t child = fork();
  if (child == 0) {
    // The folders above belong to root alone.
    if (chdir(shared.c_str()) != 0 || seteuid(65534) != 0) _exit(1);
    const absl::Status other = LockTrainingState("state.safetensors").status();
    const bool is_named =
        absl::IsFailedPrecondition(other) &&
        other.message().find("another user") != std::string::npos;
    if (seteuid(0) != 0 || chmod(".", 0555) != 0 || seteuid(65534) != 0) {
      _exit(2);
    }
    const absl::Status read_only =
        LockTrainingState("other.safetensors").status();
    _exit(!is_named ? 3 : absl::IsPermissionDenied(read_only) ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(StateLockTest, AMissingFolderIsNamed) {
  EXPECT_THAT(LockTrainingState("/nowhere/state").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere")));
}

}  // namespace
}  // namespace footprint
