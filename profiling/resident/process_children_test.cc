// Tests what process_children.h promises.

#include "footprint/profiling/resident/process_children.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kNoFolder[] = "/none";

// Starts a child that writes its ID and stays until it is killed, and `depth`
// more below it.
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
  ProcessChildren children(getpid(), kNoFolder);
  children.Look();
  EXPECT_EQ(children.seen().size(), 1u) << "the program itself";
  EXPECT_EQ(children.seen().count(getpid()), 1u);
  const pid_t child = StartChild(ends_[1], 1);
  const pid_t first = NextNumber();
  const pid_t grandchild = first == child ? NextNumber() : first;
  if (grandchild == first) {
    EXPECT_EQ(NextNumber(), child);
  }
  children.Look();
  ASSERT_EQ(children.seen().size(), 3u);
  EXPECT_EQ(children.seen().at(child).name, "outer");
  EXPECT_EQ(children.seen().at(grandchild).name, "innermost");
  EXPECT_EQ(children.running(), (std::set<int>{getpid(), child, grandchild}));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  children.Look();
  EXPECT_EQ(children.seen().size(), 3u) << "what ended is not forgotten";
  EXPECT_EQ(children.running().count(child), 0u);
}

// Maps a file of the folder, as the loader does for the agent.
class AgentMapping {
 public:
  explicit AgentMapping(const std::string& folder) {
    const std::string path = folder + "/agent.so";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(ftruncate(file, 4096), 0);
    page_ = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    EXPECT_NE(page_, MAP_FAILED);
    close(file);
  }
  ~AgentMapping() { munmap(page_, 4096); }
  AgentMapping(const AgentMapping&) = delete;
  AgentMapping& operator=(const AgentMapping&) = delete;

 private:
  void* page_;
};

TEST_F(ProcessChildrenTest, AProgramThatAProcessBecomesMayHaveNoAgent) {
  std::string folder = testing::TempDir() + "/agent-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const AgentMapping agent(folder);
  ProcessChildren children(getpid(), folder);
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(to_child[0], STDIN_FILENO);
    char go = 0;
    (void)!read(STDIN_FILENO, &go, 1);
    execl("/bin/sh", "sh", "-c", "read line", nullptr);
    _exit(1);
  }
  using Agent = SeenProcess::Agent;
  children.Look();
  EXPECT_EQ(children.seen().at(getpid()).agent, Agent::kPresent);
  EXPECT_EQ(children.seen().at(child).agent, Agent::kPresent);
  EXPECT_GT(children.seen().at(child).time_ns, 0);
  ASSERT_EQ(write(to_child[1], "g", 1), 1);
  while (children.seen().at(child).name != "sh" ||
         children.seen().at(child).agent == Agent::kPresent) {
    children.Look();
  }
  EXPECT_EQ(children.seen().at(child).agent, Agent::kAbsent);
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT),
            0);
  children.Look();
  EXPECT_EQ(children.seen().at(child).agent, Agent::kAbsent)
      << "a process that has ended is what it was last";
  waitpid(child, nullptr, 0);
  close(to_child[0]);
  close(to_child[1]);
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
  ProcessChildren children(getpid(), kNoFolder);
  children.Look();
  EXPECT_EQ(children.seen().count(child), 1u);
  looked.set_value();
  thread.join();
}

TEST_F(ProcessChildrenTest, AProcessThatHasEndedHasNone) {
  ProcessChildren children(1 << 23, kNoFolder);
  children.Look();
  children.Look();
  EXPECT_TRUE(children.seen().empty());
}

}  // namespace
}  // namespace footprint
