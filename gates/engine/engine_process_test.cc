#include "footprint/gates/engine/engine_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr absl::Duration kLong = absl::Minutes(5);

absl::StatusOr<EngineEnd> RunScript(
    const std::string& script, absl::Duration limit = kLong,
    const std::function<bool()>& is_stopped = {}) {
  return RunEngineProcess({"/bin/sh", "-c", script}, limit, is_stopped);
}

// Waits until the file that a script writes is there, and returns the number in
// it.
pid_t AwaitNumber(const std::string& path) {
  for (int i = 0; i < 3000; ++i) {
    const absl::StatusOr<std::string> text = ReadWholeFile(path);
    int number = 0;
    if (text.ok() && absl::SimpleAtoi(*text, &number)) return number;
    usleep(10000);
  }
  ADD_FAILURE() << path << " does not appear";
  return 0;
}

// Returns whether a process has ended, also if nobody has waited for it.
bool HasEnded(pid_t process) {
  std::ifstream file(absl::StrCat("/proc/", process, "/stat"));
  std::string number;
  std::string name;
  std::string state;
  file >> number >> name >> state;
  return !file || state == "Z" || state == "X";
}

// Returns whether a process ends within half a minute.
bool Ends(pid_t process) {
  for (int i = 0; i < 3000; ++i) {
    if (HasEnded(process)) return process > 0;
    usleep(10000);
  }
  return false;
}

// Returns a path at which nothing is.
std::string FreshPath(const std::string& name) {
  const std::string path = TestPath(name);
  unlink(path.c_str());
  return path;
}

TEST(EngineProcessTest, TellsHowTheCommandEnded) {
  absl::StatusOr<EngineEnd> end = RunScript("echo out; echo error >&2; exit 3");
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(WIFEXITED(end->wait_status));
  EXPECT_EQ(WEXITSTATUS(end->wait_status), 3);
  EXPECT_EQ(end->output_tail, "out\nerror\n");
  EXPECT_FALSE(end->is_timed_out);
  end = RunScript("kill -s SEGV $$");
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(WIFSIGNALED(end->wait_status));
  EXPECT_EQ(WTERMSIG(end->wait_status), SIGSEGV);
}

TEST(EngineProcessTest, WordsArriveAsTheyAre) {
  const absl::StatusOr<EngineEnd> end = RunEngineProcess(
      {"/bin/sh", "-c", "printf '<%s>' \"$@\"", "sh", "a b", "$(id)", "", "*"},
      kLong, {});
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->output_tail, "<a b><$(id)><><*>");
}

TEST(EngineProcessTest, OnlyTheEndOfALongOutputIsKept) {
  const absl::StatusOr<EngineEnd> end =
      RunScript("yes line | head -c 1000000; echo last");
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->output_tail.size(), 4096u);
  EXPECT_THAT(end->output_tail, testing::EndsWith("last\n"));
}

TEST(EngineProcessTest, TheCommandHasNoFileOfThisProcess) {
  // Another library may open a file without O_CLOEXEC, as here.
  const int file = open("/dev/null", O_RDONLY);
  ASSERT_GE(file, 0);
  const absl::StatusOr<EngineEnd> end = RunScript(
      absl::StrCat("test -e /proc/self/fd/", file, " && echo open; cat"));
  close(file);
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->output_tail, "");
}

TEST(EngineProcessTest, SignalsHaveTheirDefaults) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const absl::StatusOr<EngineEnd> end = RunScript("kill -s PIPE $$; echo on");
  std::signal(SIGPIPE, before);
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(WIFSIGNALED(end->wait_status));
  EXPECT_EQ(WTERMSIG(end->wait_status), SIGPIPE);
}

TEST(EngineProcessTest, WhatHangsIsEndedWithAllItsGroup) {
  const std::string path = FreshPath("child");
  const absl::StatusOr<EngineEnd> end = RunScript(
      absl::StrCat("sleep 1000 & echo $! > ", path, "; echo here; wait"),
      absl::Seconds(1));
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->is_timed_out);
  EXPECT_EQ(end->output_tail, "here\n");
  EXPECT_TRUE(Ends(AwaitNumber(path)));
}

// As srun does, which tells its controller that the job has ended.
std::string CleansUp(const std::string& path, const std::string& cleaned) {
  return absl::StrCat("(trap 'sleep 1; echo ended; echo 1 > ", cleaned,
                      "; exit' TERM; echo 1 > ", path,
                      "; while true; do sleep 0.1; done)");
}

// The shell itself ends at the signal, but what it runs has work to do.
TEST(EngineProcessTest, AChildOfAScriptHasTimeToEnd) {
  const std::string cleaned = FreshPath("cleaned");
  const absl::StatusOr<EngineEnd> end = RunScript(
      absl::StrCat(CleansUp(FreshPath("ready"), cleaned), "; echo on"),
      absl::Seconds(1));
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->is_timed_out);
  EXPECT_EQ(ReadTestFile(cleaned), "1\n");
}

// Nobody reads what the child prints then, and that must not end it before its
// work is done.
TEST(EngineProcessTest, AChildOfAScriptHasTimeToEndAfterAKilledServer) {
  const std::string ready = FreshPath("ready_of_killed");
  const std::string cleaned = FreshPath("cleaned_of_killed");
  const pid_t server = fork();
  ASSERT_GE(server, 0);
  if (server == 0) {
    const absl::StatusOr<EngineEnd> end =
        RunScript(absl::StrCat(CleansUp(ready, cleaned), "; echo on"));
    _exit(end.ok() ? 0 : 1);
  }
  AwaitNumber(ready);
  // The guard starts after the command.
  sleep(1);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  EXPECT_EQ(AwaitNumber(cleaned), 1);
}

TEST(EngineProcessTest, WhatPrintsWithoutEndIsEndedToo) {
  const std::string path = FreshPath("printing");
  const absl::StatusOr<EngineEnd> end = RunScript(
      absl::StrCat("setsid sh -c 'echo $$ > ", path, "; exec cat /dev/zero' & ",
                   "while [ ! -s ", path, " ]; do sleep 0.01; done"));
  EXPECT_THAT(end, IsOk());
  kill(AwaitNumber(path), SIGKILL);
  EXPECT_THAT(RunScript("cat /dev/zero & exec cat /dev/zero", absl::Seconds(1)),
              IsOk());
}

TEST(EngineProcessTest, WhatIgnoresSigtermIsKilled) {
  const absl::StatusOr<EngineEnd> end =
      RunScript("trap '' TERM; while true; do sleep 1; done", absl::Seconds(1));
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->is_timed_out);
  EXPECT_EQ(WTERMSIG(end->wait_status), SIGKILL);
}

TEST(EngineProcessTest, TheServersStopEndsTheCommand) {
  const std::string path = FreshPath("stopped");
  std::atomic<bool> is_stopped = false;
  std::thread stops([&] {
    AwaitNumber(path);
    is_stopped = true;
  });
  EXPECT_THAT(RunScript(absl::StrCat("echo $$ > ", path, "; sleep 1000"), kLong,
                        [&] { return is_stopped.load(); }),
              StatusIs(absl::StatusCode::kCancelled));
  stops.join();
  EXPECT_TRUE(Ends(AwaitNumber(path)));
}

TEST(EngineProcessTest, AChildThatOutlivesTheCommandIsKilled) {
  const std::string path = FreshPath("orphan");
  const absl::StatusOr<EngineEnd> end =
      RunScript(absl::StrCat("sleep 1000 & echo $! > ", path));
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(WIFEXITED(end->wait_status));
  EXPECT_TRUE(Ends(AwaitNumber(path)));
}

// A killed server can end nothing itself.
TEST(EngineProcessTest, TheCommandEndsWithAServerThatIsKilled) {
  const std::string path = FreshPath("of_killed");
  const std::string child_path = FreshPath("child_of_killed");
  const pid_t server = fork();
  ASSERT_GE(server, 0);
  if (server == 0) {
    const absl::StatusOr<EngineEnd> end = RunScript(absl::StrCat(
        "sleep 1000 & echo $! > ", child_path, "; echo $$ > ", path, "; wait"));
    _exit(end.ok() ? 0 : 1);
  }
  const pid_t command = AwaitNumber(path);
  const pid_t child = AwaitNumber(child_path);
  // The guard starts after the command. Without it the command would run on.
  sleep(1);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  EXPECT_TRUE(Ends(command));
  EXPECT_TRUE(Ends(child));
}

TEST(EngineProcessTest, SaysWhatCannotBeStarted) {
  EXPECT_THAT(RunEngineProcess({"/no/such/engine"}, kLong, {}),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("/no/such/engine: cannot be started")));
}

TEST(EngineProcessTest, ManyThreadsRunCommandsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> count = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&count, i] {
      for (int j = 0; j < 10; ++j) {
        const absl::StatusOr<EngineEnd> end =
            RunScript(absl::StrCat("echo ", i, "; exit ", j));
        if (end.ok() && WEXITSTATUS(end->wait_status) == j &&
            end->output_tail == absl::StrCat(i, "\n")) {
          ++count;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80);
}

}  // namespace
}  // namespace footprint
