// Runs a program once, in circumstances that are the same on every machine, and
// leaves nothing of it behind.
//
//   FreshProcess process;
//   process.executable = "/absolute/path/to/program";
//   process.arguments = {"program", "--flag"};
//   process.environment = {"LANG=C"};
//   process.working_folder = folder;
//   absl::StatusOr<ProcessEnd> end = RunFreshProcess(process);
//
// The program gets: standard input and output from and to /dev/null, standard
// error into a pipe that is read to its end, no other file descriptor; every
// signal at its default and none blocked; umask 022; no core file, 8 MiB of
// stack (also what a thread gets by default) and 1,024 open files, or less
// where the hard limit is less; a process group of its own. When it ends, or
// exceeds its time, every process that descends from it is killed, whatever
// group or session it moved to.
//
// `process` must live as long as the call, whose thread calls `look`; the end
// owns its texts. Not thread-safe, and for a process without other children: it
// becomes a subreaper, sets SIGCHLD to its default, and waits for every child
// it has. Memory: 32 KiB and the ends of the strings. Time: the program's, and
// about a millisecond.

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

// So many bytes of the end of standard error are kept.
inline constexpr size_t kStandardErrorTailBytes = 16384;

struct FreshProcess {
  std::string executable;  // absolute
  // argv, so the first is the name by which the program sees itself.
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::string working_folder;
  int time_limit_seconds = 300;
  // How long processes that descend from it may still run once it has ended,
  // before they are killed and stand in ProcessEnd::survivors.
  int others_limit_seconds = 0;
  // Addresses differ from run to run if this is set, and are the same in every
  // run if not.
  bool is_address_space_randomized = true;
  // Called about every millisecond while the program runs, if there is one.
  std::function<void()> look;
  // The entrance of the control group (base/machine/memory_group.h) in which
  // the program begins. Below zero: in that of this process.
  int group_entrance = -1;
  // Checked while waiting; non-zero ends the run. May be null.
  const volatile std::sig_atomic_t* is_cancelled = nullptr;
};

struct ProcessEnd {
  enum class Kind { kNotStarted, kExited, kSignalled, kTimedOut };
  Kind kind = Kind::kNotStarted;
  int exit_status = 0;      // kExited
  int signal_number = 0;    // kSignalled
  std::string start_error;  // kNotStarted: which step failed and why
  std::string standard_error_tail;
  int process_id = 0;
  // Names of descendants that were killed, since they ran when the program had
  // ended and their time was over; sorted.
  std::vector<std::string> survivors;
  // The highest resident set of any one process that was waited for: the
  // program, its orphans, and what they waited for. No less than what the fork
  // of this process had before it became the program, some MB.
  int64_t peak_resident_bytes = 0;
  // The system let the address-space layout be chosen; if not, the program ran
  // in the one that it got.
  bool is_layout_as_asked = true;
};

// kCancelled if `is_cancelled` became non-zero; kInternal if the system has no
// process or pipe left, or a descendant survives SIGKILL. How the program ended
// is no error here.
absl::StatusOr<ProcessEnd> RunFreshProcess(const FreshProcess& process);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_FRESH_PROCESS_H_
