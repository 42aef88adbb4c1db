// Runs a program once, under conditions that are the same on every machine, and
// leaves none of its processes behind.
//
//   FreshProcess process;
//   process.executable = "/absolute/path/to/program";
//   process.arguments = {"program", "--flag"};
//   process.environment = {"LANG=C"};
//   process.working_folder = folder;
//   absl::StatusOr<ProcessEnd> end = RunFreshProcess(process);
//
// The program's standard input and output are /dev/null, and its standard error
// is a pipe that is read to its end; it gets no other file descriptor. Every
// signal has its default and none is blocked; umask is 022. There is no core
// file, 8 MiB of stack (also the default for threads) and 1,024 open files, or
// less if the hard limit is lower. It has its own process group. When it ends,
// or exceeds its time limit, every process that descends from it is killed,
// whatever group or session that process moved to.
//
// `process` must live as long as the call, whose thread calls `look`; the
// result owns its texts. Not thread-safe, and only for a process without other
// children: it becomes a subreaper, sets SIGCHLD to its default, kills all of
// its children and waits for them. Memory: 32 KiB, and a pointer for each
// argument and variable. Time: the program's, and about a millisecond.

#ifndef FOOTPRINT_PROFILING_MEASURING_FRESH_PROCESS_H_
#define FOOTPRINT_PROFILING_MEASURING_FRESH_PROCESS_H_

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

// The number of bytes that are kept from the end of standard error.
inline constexpr size_t kStandardErrorTailBytes = 16384;

struct FreshProcess {
  std::string executable;  // An absolute path.
  // argv: the first is the program's name as it sees it.
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited.
  std::string working_folder;
  int time_limit_seconds = 300;
  // How long descendants may still run after the program has ended. Then they
  // are killed and listed in ProcessEnd::survivors. If this is 0, they are
  // killed at once and not listed.
  int others_limit_seconds = 0;
  // If set, addresses differ from run to run; if not, they are the same.
  bool is_address_space_randomized = true;
  // If not null, this function is called about every millisecond while the
  // program runs, and while its descendants may still run.
  std::function<void()> look;
  // The descriptor of the control group (base/machine/memory_group.h) that the
  // program starts in. If negative, it starts in this process's group.
  int group_entrance = -1;
  // A non-zero value, which may be set during the run, ends the run. May be
  // null.
  const volatile std::sig_atomic_t* is_cancelled = nullptr;
};

struct ProcessEnd {
  enum class Kind { kNotStarted, kExited, kSignalled, kTimedOut };
  Kind kind = Kind::kNotStarted;
  int exit_status = 0;      // kExited
  int signal_number = 0;    // kSignalled
  std::string start_error;  // kNotStarted: the step that failed, and why.
  std::string standard_error_tail;
  int process_id = 0;
  // Sorted names of descendants that were killed because they still ran at the
  // end of their time.
  std::vector<std::string> survivors;
  // The highest resident set of any one process among the program, its orphans,
  // and the processes they waited for. It is at least what the fork of this
  // process had before it became the program, some MB.
  int64_t peak_resident_bytes = 0;
  // Whether the system allowed the choice of the address-space layout. If not,
  // the program ran in the layout that it got.
  bool is_layout_as_asked = true;
};

// Runs the program. Returns kCancelled if `is_cancelled` became non-zero while
// the program ran, kInternal if the system has no process left or a descendant
// survives SIGKILL, and the errors of MakePipe (pipe.h). If `is_cancelled`
// becomes non-zero while only descendants run, they are killed and listed at
// once, and the result is OK. A program that fails is not an error here.
absl::StatusOr<ProcessEnd> RunFreshProcess(const FreshProcess& process);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_FRESH_PROCESS_H_
