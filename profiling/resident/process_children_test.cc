// Tests of the promises of process_children.h.

#include "footprint/profiling/resident/process_children.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <thread>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// A child that says its number and stays until it is killed; `depth` more below
// it.
pid_t StartChild(int write_end, int depth) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, depth == 0 ? "innermost" : "outer");
  if (depth > 0) StartChild(write_end, depth - 1);
  const pid_t own = getpid();
  (void)!write(write_end, &own, sizeof(own));
  while (true) pause();
}

class ProcessChildrenTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ends_), 0);
    ASSERT_EQ(access("/proc/thread-self/children", F_OK), 0)
        << "the kernel was made without CONFIG_PROC_CHILDREN";
  }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  pid_t NextNumber() {
    pid_t number = 0;
    EXPECT_EQ(read(ends_[0], &number, sizeof(number)),
              static_cast<ssize_t>(sizeof(number)));
    return number;
  }

  int ends_[2];
};

TEST_F(ProcessChildrenTest, ChildrenAndTheirsAreKnownByTheirNames) {
  ProcessChildren children(getpid());
  children.Look();
  EXPECT_TRUE(children.seen().empty());
  const pid_t child = StartChild(ends_[1], 1);
  const pid_t first = NextNumber();
  const pid_t grandchild = first == child ? NextNumber() : first;
  if (grandchild == first) {
    EXPECT_EQ(NextNumber(), child);
  }
  children.Look();
  ASSERT_EQ(children.seen().size(), 2u);
  EXPECT_EQ(children.seen().at(child).name, "outer");
  EXPECT_EQ(children.seen().at(grandchild).name, "innermost");
  EXPECT_EQ(children.seen().at(child).executable,
            std::filesystem::canonical("/proc/self/exe").string());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  children.Look();
  EXPECT_EQ(children.seen().size(), 2u) << "what ended is not forgotten";
}

TEST_F(ProcessChildrenTest, AnyThreadsChildIsSeen) {
  std::promise<void> looked;
  std::thread thread([&] {
    const pid_t child = StartChild(ends_[1], 0);
    looked.get_future().wait();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  });
  const pid_t child = NextNumber();
  ProcessChildren children(getpid());
  children.Look();
  EXPECT_EQ(children.seen().count(child), 1u);
  looked.set_value();
  thread.join();
}

TEST_F(ProcessChildrenTest, AProcessThatHasEndedHasNone) {
  ProcessChildren children(1 << 23);
  children.Look();
  children.Look();
  EXPECT_TRUE(children.seen().empty());
}

}  // namespace
}  // namespace footprint
