// Tests what fresh_process.h promises, with shell one-liners.

#include "footprint/profiling/measuring/fresh_process.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Kind = ProcessEnd::Kind;

FreshProcess Shell(const std::string& script) {
  FreshProcess process;
  process.executable = "/bin/sh";
  process.arguments = {"shell", "-c", script};
  process.environment = {"LANG=C", "WORD=value"};
  process.working_folder = "/";
  return process;
}

ProcessEnd RunToEnd(const FreshProcess& process) {
  absl::StatusOr<ProcessEnd> end = RunFreshProcess(process);
  EXPECT_THAT(end, IsOk());
  return end.ok() ? *end : ProcessEnd();
}

TEST(FreshProcessTest, TellsHowTheProgramEnded) {
  EXPECT_EQ(RunToEnd(Shell("exit 0")).kind, Kind::kExited);
  const ProcessEnd exited = RunToEnd(Shell("exit 7"));
  EXPECT_EQ(exited.kind, Kind::kExited);
  EXPECT_EQ(exited.exit_status, 7);
  const ProcessEnd killed = RunToEnd(Shell("kill -KILL $$"));
  EXPECT_EQ(killed.kind, Kind::kSignalled);
  EXPECT_EQ(killed.signal_number, SIGKILL);
}

TEST(FreshProcessTest, NamesProcessesThatOutliveTheProgram) {
  FreshProcess process = Shell("sleep 1000 > /dev/null 2>&1 &");
  process.others_limit_seconds = 1;
  const ProcessEnd end = RunToEnd(process);
  EXPECT_EQ(end.kind, Kind::kExited);
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_EQ(end.survivors, std::vector<std::string>({"sleep"}));
}

TEST(FreshProcessTest, ProcessesThatEndInTimeAreNoSurvivors) {
  FreshProcess process = Shell("(sleep 0.1; exit 3) & exit 7");
  process.others_limit_seconds = 600;
  const ProcessEnd end = RunToEnd(process);
  EXPECT_EQ(end.exit_status, 7);
  EXPECT_TRUE(end.survivors.empty());
}

TEST(FreshProcessTest, TellsWhyItCouldNotStart) {
  FreshProcess process = Shell("exit 0");
  process.executable = "/no/such/program";
  const ProcessEnd no_program = RunToEnd(process);
  EXPECT_EQ(no_program.kind, Kind::kNotStarted);
  EXPECT_EQ(no_program.start_error, "executing it: No such file or directory");
  process = Shell("exit 0");
  process.working_folder = "/no/such/folder";
  const ProcessEnd no_folder = RunToEnd(process);
  EXPECT_EQ(no_folder.kind, Kind::kNotStarted);
  EXPECT_EQ(no_folder.start_error,
            "entering its working folder: No such file or directory");
}

TEST(FreshProcessTest, GivesOnlyWhatWasAskedFor) {
  ASSERT_EQ(setenv("HOME", "/somewhere", 1), 0);
  EXPECT_EQ(
      RunToEnd(Shell("echo $0 $WORD $HOME >&2; pwd >&2")).standard_error_tail,
      "shell value\n/\n");
}

TEST(FreshProcessTest, InheritsNoFile) {
  const int file = open("/dev/null", O_RDONLY);  // not close-on-exec
  ASSERT_GE(dup2(file, 57), 0);
  EXPECT_EQ(
      RunToEnd(Shell("for f in 3 4 5 6 7 8 9 57; do "
                     "[ ! -e /proc/self/fd/$f ] || readlink /proc/$$/fd/$f "
                     ">&2; done; exit 0"))
          .standard_error_tail,
      "");
  close(57);
  close(file);
}

#ifdef SYS_close_range
// Acts like kernels without close_range, or whose close_range marks no files.
void ForbidCloseRange() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {std::size(filter), filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  ASSERT_EQ(syscall(SYS_close_range, 1000, 1000, 0), -1);
}

// The program may have 1,024 open files, this process more.
constexpr int kBeyondLimit = 2000;

void AllowFiles(rlim_t count) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GE(limit.rlim_max, count);
  limit.rlim_cur = std::max(limit.rlim_cur, count);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(FreshProcessDeathTest, InheritsNoFileOnOlderKernels) {
  EXPECT_EXIT(
      {
        ForbidCloseRange();
        AllowFiles(kBeyondLimit + 1);
        const int file = open("/dev/null", O_RDONLY);  // not close-on-exec
        const bool is_there =
            dup2(file, 57) == 57 && dup2(file, kBeyondLimit) == kBeyondLimit;
        const ProcessEnd end =
            RunToEnd(Shell("for f in 57 2000; do [ ! -e /proc/self/fd/$f ] || "
                           "echo $f is inherited >&2; done; exit 0"));
        std::cerr << end.standard_error_tail;
        std::exit(is_there && end.kind == Kind::kExited &&
                          end.standard_error_tail.empty()
                      ? 0
                      : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

// Returns a program that shows its standard files by their links.
FreshProcess ProgramThatShowsItsFiles() {
  return Shell(
      "for f in 0 1 2; do readlink /proc/$$/fd/$f || echo $f is closed; done "
      "| sed 's/:.*//' >&2");
}

// A service may be started with closed files, whose numbers pipes would get.
TEST(FreshProcessDeathTest, TheCallersClosedStandardFilesAreOpen) {
  const std::string whole = "/dev/null\n/dev/null\npipe\n";
  EXPECT_EQ(RunToEnd(ProgramThatShowsItsFiles()).standard_error_tail, whole);
  const auto are_open_without = [&whole](const std::vector<int>& closed) {
    for (const int file : closed) close(file);
    const auto end = RunFreshProcess(ProgramThatShowsItsFiles());
    return end.ok() && end->standard_error_tail == whole;
  };
  for (const std::vector<int>& closed : std::vector<std::vector<int>>{
           {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}) {
    EXPECT_EXIT(std::exit(are_open_without(closed) ? 0 : 1),
                testing::ExitedWithCode(0), "")
        << testing::PrintToString(closed);
  }
}

TEST(FreshProcessTest, ReadsAndWritesNothing) {
  EXPECT_EQ(RunToEnd(Shell("in=$(readlink /proc/$$/fd/0); "
                           "out=$(readlink /proc/$$/fd/1); echo $in $out >&2"))
                .standard_error_tail,
            "/dev/null /dev/null\n");
}

TEST(FreshProcessTest, IgnoredSignalsOfTheCallerAreDefaultAgain) {
  std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(RunToEnd(Shell("kill -PIPE $$; exit 0")).signal_number, SIGPIPE);
  std::signal(SIGPIPE, SIG_DFL);
}

TEST(FreshProcessTest, SetsTheLimitsItNames) {
  EXPECT_EQ(
      RunToEnd(
          Shell("{ ulimit -S -c; ulimit -S -s; ulimit -S -n; umask; } >&2"))
          .standard_error_tail,
      "0\n8192\n1024\n0022\n");
}

TEST(FreshProcessTest, AddressesRepeatOnlyWithoutRandomLayout) {
  const auto stack_of = [](bool is_randomized) {
    FreshProcess process = Shell("grep stack /proc/self/maps >&2");
    process.is_address_space_randomized = is_randomized;
    const ProcessEnd end = RunToEnd(process);
    return end.is_layout_as_asked ? end.standard_error_tail : "";
  };
  if (stack_of(false).empty()) {
    // If the layout cannot be chosen, the result only has to say so.
    std::cerr << "this system forbids choosing the layout\n";
    return;
  }
  EXPECT_EQ(stack_of(false), stack_of(false));
  EXPECT_NE(stack_of(true), stack_of(true));
}

TEST(FreshProcessTest, KeepsTheEndOfMuchText) {
  const ProcessEnd end = RunToEnd(
      Shell("yes 0123456789abcdef | head -c 3000000 >&2; echo end >&2"));
  EXPECT_EQ(end.kind, Kind::kExited);
  EXPECT_EQ(end.standard_error_tail.size(), kStandardErrorTailBytes);
  EXPECT_EQ(end.standard_error_tail.substr(kStandardErrorTailBytes - 4),
            "end\n");
}

TEST(FreshProcessTest, EndsWhatExceedsItsTime) {
  FreshProcess process = Shell("trap '' TERM; echo begun >&2; sleep 1000");
  process.time_limit_seconds = 1;
  const ProcessEnd end = RunToEnd(process);
  EXPECT_EQ(end.kind, Kind::kTimedOut);
  EXPECT_EQ(end.standard_error_tail, "begun\n");
}

// A signal to the group does not reach a second session.
TEST(FreshProcessTest, LeavesNoDescendantBehind) {
  FreshProcess process = Shell(
      "setsid sh -c 'trap \"\" TERM HUP; echo $$ >number.new; "
      "mv number.new number; exec sleep 1000' & "
      "until [ -e number ]; do sleep 0.01; done; cat number >&2");
  process.working_folder = ::testing::TempDir();
  const ProcessEnd end = RunToEnd(process);
  EXPECT_EQ(end.kind, Kind::kExited);
  const int descendant = std::atoi(end.standard_error_tail.c_str());
  ASSERT_GT(descendant, 1) << end.standard_error_tail;
  EXPECT_EQ(kill(descendant, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

// The end of the pipe is not the end of the program.
TEST(FreshProcessTest, WaitsForAProgramThatClosedItsStandardError) {
  const ProcessEnd end = RunToEnd(Shell("exec 2>&-; sleep 0.2; exit 5"));
  EXPECT_EQ(end.exit_status, 5);
}

TEST(FreshProcessTest, CanBeCancelled) {
  volatile std::sig_atomic_t is_cancelled = 1;
  FreshProcess process = Shell("sleep 1000");
  process.is_cancelled = &is_cancelled;
  EXPECT_THAT(RunFreshProcess(process), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace footprint
