// Tests of child_processes.h's promises.

#include "footprint/base/machine/child_processes.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::Contains;
using testing::Not;

// Starts a child that waits to be killed.
pid_t StartChild() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  return child;
}

std::vector<int> Children() {
  std::vector<int> children = {-1};  // an existing entry stays
  EXPECT_TRUE(AppendChildProcesses(getpid(), &children));
  EXPECT_EQ(children.front(), -1);
  return children;
}

void End(pid_t child) {
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(ChildProcessesTest, AreThereUntilTheyAreWaitedFor) {
  const pid_t first = StartChild();
  const pid_t second = StartChild();
  EXPECT_THAT(Children(), Contains(first));
  EXPECT_THAT(Children(), Contains(second));
  End(first);
  End(second);
  EXPECT_THAT(Children(), Not(Contains(first)));
}

TEST(ChildProcessesTest, AreThoseOfAnyThread) {
  std::thread thread([] {
    const pid_t child = StartChild();
    EXPECT_THAT(Children(), Contains(child));
    End(child);
  });
  thread.join();
}

TEST(ChildProcessesTest, AProcessThatHasEndedHasNone) {
  std::vector<int> children;
  // This is above the highest process number of Linux.
  EXPECT_FALSE(AppendChildProcesses(1 << 23, &children));
  EXPECT_TRUE(children.empty());
}

}  // namespace
}  // namespace footprint
