#include "footprint/gates/programs/shell_command.h"

#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ShellCommandTest, ReturnsTheExitStatus) {
  for (const int wanted : {0, 1, 2, 7, 9, 127, 137, 255}) {
    const absl::StatusOr<int> ended =
        RunShellCommand("exit " + std::to_string(wanted));
    ASSERT_THAT(ended, IsOk());
    EXPECT_EQ(*ended, wanted);
  }
}

TEST(ShellCommandTest, AnInterruptionIsNoFailure) {
  for (const char* const command :
       {"kill -INT $$", "kill -TERM $$", "sh -c 'kill -INT $$'; exit $?",
        "sh -c 'kill -TERM $$'; exit $?", "exit 8"}) {
    EXPECT_THAT(RunShellCommand(command),
                StatusIs(absl::StatusCode::kCancelled))
        << command;
  }
}

TEST(ShellCommandTest, GitObeysItsFolderInAHook) {
  setenv("GIT_DIR", "/nowhere", 1);
  const absl::StatusOr<int> ended = RunShellCommand("test -z \"$GIT_DIR\"");
  unsetenv("GIT_DIR");
  ASSERT_THAT(ended, IsOk());
  EXPECT_EQ(*ended, 0);
}

}  // namespace
}  // namespace footprint
