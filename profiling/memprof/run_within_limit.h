// Runs a program once more, as it is, inside a memory limit, and tells whether
// the limit held.
//
//   absl::StatusOr<LimitedEnd> end = RunWithinLimit(run, 84 << 20);
//   end->killed_process_count;  // 0: nothing was killed
//
// The program runs without the agent, in a control group of its own
// (base/machine/memory_group.h), whose limit includes the page cache, tmpfs and
// the kernel's memory, as a container's does. Its output and errors go to
// /dev/null; its input is read from the beginning if it is a file, and is empty
// otherwise. The program's effects on files and other programs happen once
// more.
//
// Thread-compatible: it forks. Owns the group until it returns; a child of the
// program that is still running keeps the group. Memory: nothing of its own.
// Errors: those of MemoryGroup if no group can be made, with what to do about
// it; those of StartProgram, such as kNotFound, if the program cannot be run.

#ifndef FOOTPRINT_PROFILING_MEMPROF_RUN_WITHIN_LIMIT_H_
#define FOOTPRINT_PROFILING_MEMPROF_RUN_WITHIN_LIMIT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/profiling/memprof/run_with_agent.h"

namespace footprint {

struct LimitedEnd {
  // How the program ended, as in AgentRunEnd.
  int exit_status = 0;
  int signal_number = 0;
  int64_t killed_process_count = 0;
  // How often the kernel had to reclaim pages, or to kill, to keep the limit.
  int64_t limit_hit_count = 0;
  // The most bytes that the group was charged for, page cache included; -1 if
  // the kernel does not report it.
  int64_t peak_bytes = -1;
  bool is_version_2 = false;
};

// Runs `run.program` with `run.arguments`.
absl::StatusOr<LimitedEnd> RunWithinLimit(const AgentRun& run,
                                          int64_t limit_bytes);

}  // namespace footprint

// Tested by container_run_test.

#endif  // FOOTPRINT_PROFILING_MEMPROF_RUN_WITHIN_LIMIT_H_
