// Runs the command of an engine, and leaves none of its processes behind.
//
//   absl::StatusOr<EngineEnd> end = RunEngineProcess(
//       {"/usr/bin/srun", "--mem=256", "try"}, absl::Minutes(10), is_stopped);
//   if (!end.ok()) return end.status();
//   if (end->is_timed_out) ...
//
// The command has this process's environment and folder, /dev/null as standard
// input, no other open file, the default of every signal, and a process group
// of its own. SIGTERM ends the group if `is_stopped` returns true or the time
// is over, and SIGKILL five seconds later, or sooner if the command has ended
// and its output is closed. When the command ends by itself, what is left of
// its group is killed. If this process is killed itself, a small shell
// that waits for that ends the group in the same way. A process that has moved
// to another group or session is not found.
//
// Thread-safe; calls in several threads share nothing. Memory: 8 KiB, and the
// arguments. Time: the command's, and some milliseconds. Errors: kCancelled if
// `is_stopped` returned true; FileError's, with the command's name, if it
// cannot be started.

#ifndef FOOTPRINT_GATES_ENGINE_ENGINE_PROCESS_H_
#define FOOTPRINT_GATES_ENGINE_ENGINE_PROCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace footprint {

struct EngineEnd {
  // The status that waitpid returned.
  int wait_status = 0;
  bool is_timed_out = false;
  // The last bytes of standard output and standard error, together.
  std::string output_tail;
};

// Runs the command, whose first word is an absolute path. `is_stopped` may be
// empty. It is called about fifty times each second, and more often while the
// command writes output.
absl::StatusOr<EngineEnd> RunEngineProcess(
    const std::vector<std::string>& words, absl::Duration limit,
    const std::function<bool()>& is_stopped);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_ENGINE_ENGINE_PROCESS_H_
