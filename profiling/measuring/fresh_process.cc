#include "footprint/profiling/measuring/fresh_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/pipe.h"
#include "footprint/base/text/exec_strings.h"

namespace footprint {
namespace {

using Clock = std::chrono::steady_clock;

constexpr rlim_t kStackBytes = rlim_t{8} << 20;
constexpr int kOpenFiles = 1024;
// How long a killed process may take to end. Only an uninterruptible wait in
// the kernel takes longer than milliseconds.
constexpr std::chrono::seconds kReapLimit(30);

// Reports a step that failed in the child before it becomes the program.
struct StartReport {
  int step;   // a StartStep
  int error;  // errno
};
enum StartStep { kLayout, kGroup, kFiles, kFolder, kExecute };

const char* StepName(int step) {
  switch (step) {
    case kGroup:
      return "entering its control group";
    case kFiles:
      return "redirecting its files";
    case kFolder:
      return "entering its working folder";
    default:
      return "executing it";
  }
}

void LimitResource(int resource, rlim_t wanted) {
  rlimit limit;
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) {
    // SIGKILL, SIGSTOP and the C library's own signals cannot be set, and need
    // not be.
    std::signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Returns the largest number of a descriptor of this process. The limit of open
// files does not bound it: it may have been lowered.
int FindHighestFile() {
  int highest = kOpenFiles;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    int file = 0;
    if (absl::SimpleAtoi(entry->path().filename().native(), &file)) {
      highest = std::max(highest, file);
    }
  }
  return highest;
}

// Makes all descriptors above standard error close when the program starts.
void CloseOtherFilesOnExecute(int highest) {
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExecute = 1u << 2;  // CLOSE_RANGE_CLOEXEC
  if (syscall(SYS_close_range, 3u, ~0u, kCloseOnExecute) == 0) return;
#endif
  for (int file = 3; file <= highest; ++file) fcntl(file, F_SETFD, FD_CLOEXEC);
}

bool RedirectFiles(int standard_error) {
  // If standard files are closed, this is one of them, and stays open.
  const int nothing = open("/dev/null", O_RDWR);
  return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
         dup2(nothing, STDOUT_FILENO) >= 0 &&
         dup2(standard_error, STDERR_FILENO) >= 0;
}

// Turns the child into the program, between fork and execve. If a step fails,
// it reports the step and ends the child.
[[noreturn]] void BecomeProgram(const FreshProcess& process,
                                char* const* arguments,
                                char* const* environment, int standard_error,
                                int report, int highest_file) {
  const auto tell = [report](StartStep step) {
    const StartReport message = {step, errno};
    // If this fails, the error cannot be reported anywhere.
    (void)!write(report, &message, sizeof(message));
  };
  setpgid(0, 0);
  // The kernel kills the program if the runner is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ResetSignals();
  umask(022);
  LimitResource(RLIMIT_CORE, 0);
  LimitResource(RLIMIT_STACK, kStackBytes);
  LimitResource(RLIMIT_NOFILE, kOpenFiles);
  const unsigned long layout =
      process.is_address_space_randomized ? 0 : ADDR_NO_RANDOMIZE;
  if (personality(PER_LINUX | layout) == -1) tell(kLayout);
  if (process.group_entrance >= 0 &&
      write(process.group_entrance, "0", 1) != 1) {
    tell(kGroup);
    _exit(127);
  }
  if (!RedirectFiles(standard_error)) {
    tell(kFiles);
    _exit(127);
  }
  CloseOtherFilesOnExecute(highest_file);
  if (chdir(process.working_folder.c_str()) != 0) {
    tell(kFolder);
    _exit(127);
  }
  execve(process.executable.c_str(), arguments, environment);
  tell(kExecute);
  _exit(127);
}

// Reads the child's reports until the program starts or the child ends.
void ReadStartReports(int report, ProcessEnd* end) {
  StartReport message;
  ssize_t count;
  while ((count = read(report, &message, sizeof(message))) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof(message)) return;
    if (message.step == kLayout) {
      end->is_layout_as_asked = false;
    } else {
      end->start_error = absl::StrCat(StepName(message.step), ": ",
                                      std::strerror(message.error));
    }
  }
}

// Appends what can be read now to `tail` and keeps its end. Returns false at
// the pipe's end.
bool ReadAvailable(int file, std::string* tail) {
  char buffer[8192];
  while (true) {
    const ssize_t count = read(file, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    tail->append(buffer, static_cast<size_t>(count));
    if (tail->size() > kStandardErrorTailBytes) {
      tail->erase(0, tail->size() - kStandardErrorTailBytes);
    }
  }
}

// Returns whether `process_id` has ended. It is not reaped, so its ID stays in
// use.
bool HasEnded(pid_t process_id) {
  siginfo_t info;
  std::memset(&info, 0, sizeof(info));
  return waitid(P_PID, static_cast<id_t>(process_id), &info,
                WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == process_id;
}

enum class WaitEnd { kEnded, kTimedOut, kCancelled };

WaitEnd WaitForEnd(const FreshProcess& process, pid_t process_id,
                   int standard_error, std::string* tail) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::seconds(process.time_limit_seconds);
  bool is_open = true;
  while (!HasEnded(process_id)) {
    if (process.is_cancelled != nullptr && *process.is_cancelled != 0) {
      return WaitEnd::kCancelled;
    }
    if (Clock::now() >= deadline) return WaitEnd::kTimedOut;
    // The end of the pipe normally shows the program's end at once. Only a
    // program that closed it, or left it to a child, is found by polling.
    pollfd waited = {standard_error, POLLIN, 0};
    const bool is_watched = process.look != nullptr;
    poll(&waited, is_open ? 1 : 0, is_open && !is_watched ? 20 : 1);
    if (is_watched) process.look();
    if (is_open) is_open = ReadAvailable(standard_error, tail);
  }
  return WaitEnd::kEnded;
}

// Returns the children of this process, including orphaned descendants.
std::vector<pid_t> Children() {
  std::ifstream list(absl::StrCat("/proc/self/task/", getpid(), "/children"));
  std::vector<pid_t> children;
  pid_t child;
  while (list >> child) children.push_back(child);
  return children;
}

// Waits for a process that has ended and returns its ID. Returns 0 if all still
// run, and a negative number if there is none.
pid_t ReapOne(pid_t process_id, int* wait_status, ProcessEnd* end) {
  int status;
  rusage usage = {};
  const pid_t reaped = wait4(-1, &status, WNOHANG, &usage);
  if (reaped <= 0) return reaped;
  end->peak_resident_bytes =
      std::max(end->peak_resident_bytes, int64_t{usage.ru_maxrss} * 1024);
  if (reaped == process_id) *wait_status = status;
  return reaped;
}

std::string ReadName(pid_t process_id) {
  std::ifstream file(absl::StrCat("/proc/", process_id, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

// Gives descendants of the program time to end, and names those that are left.
void WaitForOthers(const FreshProcess& process, int standard_error,
                   int* wait_status, ProcessEnd* end) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::seconds(process.others_limit_seconds);
  while (true) {
    while (ReapOne(end->process_id, wait_status, end) > 0) {
    }
    const std::vector<pid_t> others = Children();
    const bool is_over =
        Clock::now() >= deadline ||
        (process.is_cancelled != nullptr && *process.is_cancelled != 0);
    if (others.empty() || is_over) {
      for (pid_t other : others) {
        if (!HasEnded(other)) end->survivors.push_back(ReadName(other));
      }
      std::sort(end->survivors.begin(), end->survivors.end());
      return;
    }
    if (process.look != nullptr) process.look();
    pollfd waited = {standard_error, POLLIN, 0};
    poll(&waited, 1, 1);
    // Reads the pipe, so that they do not wait for room in it.
    if (!ReadAvailable(standard_error, &end->standard_error_tail)) usleep(1000);
  }
}

// Kills the program and all its descendants. Children of a killed parent become
// ours, so in the end each one is found.
absl::Status KillAll(pid_t process_id, int* wait_status, ProcessEnd* end) {
  kill(-process_id, SIGKILL);
  const Clock::time_point deadline = Clock::now() + kReapLimit;
  while (Clock::now() < deadline) {
    for (pid_t child : Children()) kill(child, SIGKILL);
    const pid_t reaped = ReapOne(process_id, wait_status, end);
    if (reaped < 0 && errno == ECHILD) return absl::OkStatus();
    if (reaped == 0) usleep(500);
  }
  return absl::InternalError(
      "a process that the measured program started survives SIGKILL; look for "
      "it with ps and end it");
}

void Classify(WaitEnd wait_end, int wait_status, ProcessEnd* end) {
  if (!end->start_error.empty()) {
    end->kind = ProcessEnd::Kind::kNotStarted;
  } else if (wait_end == WaitEnd::kTimedOut) {
    end->kind = ProcessEnd::Kind::kTimedOut;
  } else if (WIFSIGNALED(wait_status)) {
    end->kind = ProcessEnd::Kind::kSignalled;
    end->signal_number = WTERMSIG(wait_status);
  } else {
    end->kind = ProcessEnd::Kind::kExited;
    end->exit_status = WEXITSTATUS(wait_status);
  }
}

}  // namespace

absl::StatusOr<ProcessEnd> RunFreshProcess(const FreshProcess& process) {
  std::vector<char*> arguments = ExecStrings(process.arguments);
  std::vector<char*> environment = ExecStrings(process.environment);
  absl::StatusOr<Pipe> errors = MakePipe();
  if (!errors.ok()) return errors.status();
  absl::StatusOr<Pipe> report = MakePipe();
  if (!report.ok()) return report.status();
  // Orphans of the program become children of this process, which finds and
  // kills them. If SIGCHLD were ignored, the kernel would not keep how they
  // ended.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGCHLD, SIG_DFL);

  // Starts the program.
  const int highest_file = FindHighestFile();
  ProcessEnd end;
  end.process_id = fork();
  if (end.process_id < 0) {
    return absl::InternalError(
        absl::StrCat("cannot start a process: ", std::strerror(errno)));
  }
  if (end.process_id == 0) {
    BecomeProgram(process, arguments.data(), environment.data(),
                  errors->write_end.get(), report->write_end.get(),
                  highest_file);
  }
  errors->write_end = FileDescriptor();
  report->write_end = FileDescriptor();
  // Waits until it ends, and kills the processes that it leaves.
  const int standard_error = errors->read_end.get();
  fcntl(standard_error, F_SETFL, O_NONBLOCK);
  ReadStartReports(report->read_end.get(), &end);
  const WaitEnd wait_end = WaitForEnd(process, end.process_id, standard_error,
                                      &end.standard_error_tail);
  int wait_status = 0;
  if (wait_end == WaitEnd::kEnded && process.others_limit_seconds > 0) {
    WaitForOthers(process, standard_error, &wait_status, &end);
  }
  const absl::Status status = KillAll(end.process_id, &wait_status, &end);
  if (!status.ok()) return status;
  if (wait_end == WaitEnd::kCancelled) {
    return absl::CancelledError("cancelled by a signal");
  }
  ReadAvailable(standard_error, &end.standard_error_tail);
  Classify(wait_end, wait_status, &end);
  return end;
}

}  // namespace footprint
