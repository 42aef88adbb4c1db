#include "footprint/profiling/memprof/run_within_limit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "footprint/base/machine/memory_group.h"
#include "footprint/base/text/exec_strings.h"

namespace footprint {
namespace {

// Opens the input of the second run: a file from its beginning, or /dev/null.
int OpenInput() {
  struct stat about;
  const bool is_file =
      fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode);
  const int file = is_file ? open("/proc/self/fd/0", O_RDONLY) : -1;
  return file >= 0 ? file : open("/dev/null", O_RDONLY);
}

// Runs in the child of a fork; returns only if it fails, with errno set.
void BecomeProgram(const AgentRun& run, char* const* arguments,
                   int processes_descriptor) {
  if (write(processes_descriptor, "0\n", 2) != 2) return;
  const int input = OpenInput();
  const int output = open("/dev/null", O_WRONLY);
  if (input < 0 || output < 0 || dup2(input, STDIN_FILENO) < 0 ||
      dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) {
    return;
  }
  if (input > STDERR_FILENO) close(input);
  if (output > STDERR_FILENO) close(output);
  execve(run.program.c_str(), arguments, environ);
}

}  // namespace

absl::StatusOr<LimitedEnd> RunWithinLimit(const AgentRun& run,
                                          int64_t limit_bytes) {
  absl::StatusOr<MemoryGroup> group = MemoryGroup::Create(limit_bytes);
  if (!group.ok()) return group.status();
  const std::vector<char*> arguments = ExecStrings(run.arguments);
  const absl::StatusOr<pid_t> process =
      StartProgram(run.program, "cannot be run within a limit", [&] {
        BecomeProgram(run, arguments.data(), group->processes_descriptor());
      });
  if (!process.ok()) return process.status();
  int status = 0;
  while (waitpid(*process, &status, 0) < 0 && errno == EINTR) {
  }
  LimitedEnd end;
  if (WIFSIGNALED(status)) {
    end.signal_number = WTERMSIG(status);
  } else {
    end.exit_status = WEXITSTATUS(status);
  }
  end.killed_process_count = group->killed_process_count();
  end.limit_hit_count = group->limit_hit_count();
  end.peak_bytes = group->peak_bytes();
  end.is_version_2 = group->is_version_2();
  return end;
}

}  // namespace footprint
