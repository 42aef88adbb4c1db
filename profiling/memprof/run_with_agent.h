// Runs a program with the agent preloaded, and waits for it.
//
//   AgentRun run;
//   run.program = "/usr/bin/python3";
//   run.arguments = {"python3", "-c", "import this"};
//   absl::StatusOr<AgentRunEnd> end = RunWithAgent(run);
//
// The program has this process's standard input, output and error, folder,
// environment and limits; only LD_PRELOAD and the variables FOOTPRINT_MEMPROF_*
// are set, and GLIBC_TUNABLES if LD_AUDIT is set. Signals that would end this
// process are passed on to the program, so that it may end in order. The
// handlers stay after the call, so these signals do nothing from then on.
// Children that outlive the program are not waited for: their figures are those
// at the program's end.
//
// Not thread-safe: signal handlers belong to the process. Owns a folder below
// TMPDIR during the call, or without it below the first of /tmp, /var/tmp and
// /dev/shm that can be used. Memory: 4 KiB for each process of the program, and
// its sites, stages and samples. Time: the program's, and a sample of its
// processes every 10 ms. Errors: kInternal if the program cannot be waited for,
// those of StartProgram, the file errors of the folder, and those of
// ReadRecords. Before the program starts, kInvalidArgument if TMPDIR's path has
// a character that LD_PRELOAD cannot hold, such as a space or colon, and
// kFailedPrecondition if the folder's mount forbids loading code (noexec).

#ifndef FOOTPRINT_PROFILING_MEMPROF_RUN_WITH_AGENT_H_
#define FOOTPRINT_PROFILING_MEMPROF_RUN_WITH_AGENT_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/resident/graphics_memory.h"
#include "footprint/profiling/resident/resident_watch.h"

namespace footprint {

struct AgentRun {
  std::string program;  // The path for execve.
  // argv, so the first is the name by which the program sees itself.
  std::vector<std::string> arguments;
  // Mean bytes between two samples of call sites. 0 records each allocation,
  // and -1 none.
  int64_t sampling_interval_bytes = int64_t{512} << 10;
  // If set, children are recorded. Otherwise only the program's own process is,
  // also after exec.
  bool children_are_recorded = true;
  // If set, imports and data files are stages, in addition to those that the
  // program names.
  bool has_automatic_stages = true;
  // Mean processor time between two samples of a thread; -1 takes no samples.
  int64_t processor_interval_ns = -1;
  // Mean bytes between two samples of copies; 0 records each copy, and -1 none.
  int64_t copy_interval_bytes = -1;
  // If set, `on_begin` is called with the folder of the records when the
  // program runs, and `on_end` when it has ended or can no longer be waited
  // for.
  std::function<void(const std::string& folder)> on_begin;
  std::function<void()> on_end;
};

struct AgentRunEnd {
  // How the program itself ended: `signal_number` is 0 unless a signal ended
  // it.
  int exit_status = 0;
  int signal_number = 0;
  int64_t begin_unix_time_ns = 0;
  int64_t wall_time_ns = 0;
  int64_t user_time_ns = 0;
  int64_t system_time_ns = 0;
  // The most bytes that the program and its children had resident at once, as
  // sampled every 10 ms. Memory that two of them share counts twice.
  int64_t peak_resident_sum_bytes = 0;
  // The memory of the program and its children in parts, at the sample at which
  // they needed the most together. Shared memory counts once.
  SharedOnce shared_once;
  SharedOnce held_once;
  // The kernel's highest mark among the processes that were waited for. It is
  // at least what this process had when it started the program.
  int64_t peak_process_mark_bytes = 0;
  // The sampled peak of each process image by itself.
  std::vector<ResidentPeak> resident_peaks;
  std::vector<GraphicsUse> graphics_uses;
  // The reason why graphics memory is unknown in whole or in part; empty if it
  // is known.
  std::string graphics_note;
  // The folder of the records if the program removed it, otherwise empty.
  // Processes that began before the removal may have a record; later ones have
  // none.
  std::string removed_folder;
  std::vector<MeasuredProcess> processes;
  // The names of programs that ran without the agent, by process ID. If
  // children are not recorded, only the program's own process can be here. ID 0
  // stands for a process that no sample saw, but that the kernel's mark shows.
  std::map<int, std::string> unrecorded_programs;
  // Processes that were not to be recorded (children_are_recorded); no figure
  // includes them.
  int left_out_process_count = 0;
};

// Runs the program, and returns its figures when it has ended.
absl::StatusOr<AgentRunEnd> RunWithAgent(const AgentRun& run);

// Starts a process and calls `become` in it, which must replace it by the
// program; if it returns, errno says why. Returns the process. Returns
// kResourceExhausted if the system has no pipe or process left, and otherwise
// an error of FileError that names the program and the `failure`.
absl::StatusOr<pid_t> StartProgram(const std::string& program,
                                   const char* failure,
                                   const std::function<void()>& become);

}  // namespace footprint

// Tested by memprof_test and survival_test.

#endif  // FOOTPRINT_PROFILING_MEMPROF_RUN_WITH_AGENT_H_
