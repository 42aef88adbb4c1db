// Runs a test as it is, and records the memory that it takes, seen from
// outside. It is made for Bazel's --run_under:
//
//   bazel test --run_under=@footprint//gates:record_test //...
//   record_test TEST ARGUMENT...
//
// The record (test_record.h) goes into TEST_UNDECLARED_OUTPUTS_DIR; without
// that variable nothing is recorded, and this process becomes the test. The
// test has this process's streams, environment, folder, process group, and
// signal dispositions. This process ends as the test did: with its exit status,
// or by the signal that killed it. Signals to the group reach the test by
// themselves; those that end a program do not end this one before it.
//
// Processes that outlive the test count until it ends. The record is written
// again whenever the peak has risen, at most twice a second, so it is there if
// Bazel kills all. A record that cannot be written is no reason to disturb the
// test: the report says which tests have none.
//
// A test that takes less than this process itself, some 4 MB, is recorded with
// as much. Time: a twentieth of a processor.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/test_memory/test_record.h"
#include "footprint/profiling/outside/paced_watch.h"

namespace footprint {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannotRun = 126;  // a shell's status for it
constexpr int kNotFound = 127;
constexpr std::chrono::milliseconds kBetweenRecords(500);

[[noreturn]] void Become(char** test) {
  execvp(test[0], test);
  const int error = errno;
  std::fprintf(stderr, "record_test: %s cannot be run: %s\n", test[0],
               std::strerror(error));
  _exit(error == ENOENT ? kNotFound : kCannotRun);
}

// Signals that end this process, if it did not wait for the test first.
sigset_t SignalsToOutlive() {
  sigset_t signals;
  sigfillset(&signals);
  // Those of a fault in this process itself.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigdelset(&signals, fault);
  }
  return signals;
}

class RecordedRun {
 public:
  explicit RecordedRun(const std::string& folder)
      : path_(absl::StrCat(folder, "/", kTestRecordName)) {
    const char* const target = std::getenv("TEST_TARGET");
    record_.target = target == nullptr ? "" : target;
  }

  // Returns the status of wait4.
  int Run(char** test) {
    // A process whose parent ends first becomes a child of this one, and so
    // stays in sight.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct sigaction as_before = {};
    struct sigaction as_usual = {};
    as_usual.sa_handler = SIG_DFL;
    // Where it is ignored, the kernel tells nobody how a child ended.
    sigaction(SIGCHLD, &as_usual, &as_before);
    const sigset_t outlived = SignalsToOutlive();
    sigset_t mask_before;
    sigprocmask(SIG_SETMASK, &outlived, &mask_before);
    test_ = fork();
    if (test_ < 0) {
      std::perror("record_test: the test cannot be started");
      std::exit(kCannotRun);
    }
    if (test_ == 0) {
      sigaction(SIGCHLD, &as_before, nullptr);
      sigprocmask(SIG_SETMASK, &mask_before, nullptr);
      Become(test);
    }
    // The signals stay blocked: one that came late must not decide how this
    // process ends.
    return Await(outlived);
  }

 private:
  // Looks until the test has ended.
  int Await(const sigset_t& signals) {
    while (true) {
      if (watch_.Look()) RecordRisenPeak();
      int status = 0;
      struct rusage used = {};
      pid_t ended = 0;
      while ((ended = wait4(-1, &status, WNOHANG, &used)) > 0) {
        watch_.watch().NoteEnded(used.ru_maxrss * int64_t{1024});
        if (ended != test_) continue;
        RecordEnd(status);
        return status;
      }
      // A millisecond, or until a child has ended. Other signals reach the test
      // by themselves.
      const timespec pause = {0, 1000000};
      sigtimedwait(&signals, nullptr, &pause);
    }
  }

  void RecordRisenPeak() {
    const WholeProcessPeak& peak = watch_.watch().peak();
    if (peak.resident_bytes == record_.peak_resident_bytes ||
        Clock::now() < next_record_) {
      return;
    }
    Record();
    next_record_ = Clock::now() + kBetweenRecords;
  }

  void RecordEnd(int status) {
    const bool is_killed = WIFSIGNALED(status);
    record_.end =
        is_killed ? TestRecord::End::kSignalled : TestRecord::End::kExited;
    record_.end_number = is_killed ? WTERMSIG(status) : WEXITSTATUS(status);
    Record();
  }

  void Record() {
    const WholeProcessPeak& peak = watch_.watch().peak();
    record_.peak_resident_bytes = peak.resident_bytes;
    record_.anonymous_bytes = peak.anonymous_bytes;
    record_.file_bytes = peak.file_bytes;
    record_.shared_bytes = peak.shared_bytes;
    record_.process_count = peak.process_count;
    ReplaceFile(path_, WriteTestRecord(record_), ToDisk::kNoFsync)
        .IgnoreError();
  }

  const std::string path_;
  TestRecord record_;
  PacedWatch watch_{/*group=*/nullptr};
  Clock::time_point next_record_;
  pid_t test_ = 0;
};

// Ends this process as the test ended.
int EndAs(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  // The test has left a core file where one is wanted.
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const int number = WTERMSIG(status);
  struct sigaction as_usual = {};
  as_usual.sa_handler = SIG_DFL;
  sigaction(number, &as_usual, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  constexpr int kShellsSignalBase = 128;
  return kShellsSignalBase + number;
}

int Main(char** test) {
  if (test[0] == nullptr) {
    std::fputs("record_test: no test is named; use bazel test --run_under=\n",
               stderr);
    return 2;
  }
  const char* const folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr) Become(test);
  return EndAs(RecordedRun(folder).Run(test));
}

}  // namespace
}  // namespace footprint

int main(int, char** argv) { return footprint::Main(argv + 1); }
