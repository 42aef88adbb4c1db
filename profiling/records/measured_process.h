// The processes that the agent measured, as values: reads the folder into which
// their agents wrote.
//
//   absl::StatusOr<std::vector<MeasuredProcess>> processes =
//       ReadRecords(folder);
//
// Processes may still run and write: then the figures are those of the moment.
//
// Plain values: the files are closed again and need not be there any more.
// Thread-safe. Memory: 4 KiB a process. Errors: kNotFound for a folder that
// cannot be listed, kInvalidArgument for a record of another version, cut
// short, or no record at all.

#ifndef FOOTPRINT_PROFILING_RECORDS_MEASURED_PROCESS_H_
#define FOOTPRINT_PROFILING_RECORDS_MEASURED_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/records/stack_tallies.h"
#include "footprint/profiling/records/stage_profile.h"

namespace footprint {

// One image of one process: what fork or exec began.
struct MeasuredProcess {
  int process_id = 0;
  int parent_process_id = 0;
  // Counts the times that the process became another program by exec.
  int image = 0;
  bool is_fork = false;
  std::string executable;
  std::vector<std::string> command_line;

  // Nanoseconds of CLOCK_MONOTONIC; `end_time_ns` is 0 where the process was
  // killed, runs on or became another program.
  int64_t begin_time_ns = 0;
  int64_t end_time_ns = 0;
  int64_t peak_time_ns = 0;

  // Usable bytes. Right up to the last moment, however the process ended.
  int64_t peak_live_bytes = 0;
  int64_t inherited_live_bytes = 0;
  int64_t peak_mapped_bytes = 0;

  // It had not ended when its record was read.
  bool is_running = false;

  // Children that could not be measured: their records found no room.
  int lost_child_count = 0;

  // As of the end: known only where `has_totals`.
  bool has_totals = false;
  // By _exit, without destructors.
  bool ended_at_once = false;
  int64_t live_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t allocation_count = 0;
  int64_t sum_thread_peak_bytes = 0;
  int64_t peak_resident_bytes = 0;
  int thread_count = 0;
  bool threads_may_overlap = false;
  // Its operator new need not pass malloc.
  bool has_foreign_new = false;

  // As of the end by exit, empty after another: "jemalloc 5.3.0-0-g54ea", and
  // the paths of the shared objects, in the order in which they were loaded.
  std::string allocator;
  std::vector<std::string> loaded_objects;

  // Not set: the process is no Python interpreter.
  std::optional<PythonCodes> python;

  // Not set: call sites were not recorded.
  std::optional<SiteProfile> sites;
  // Of the sites; not set: not followed.
  std::optional<GrowthProfile> growth;
  // Not set: there was no room for its file.
  std::optional<StageProfile> stages;
  // Index of `stages`, as sites and points name them.
  uint32_t peak_stage = 0;
  // Not set: not sampled.
  std::optional<StackTallies> processor_time;
  std::optional<StackTallies> copies;
};

// In the order in which they began.
absl::StatusOr<std::vector<MeasuredProcess>> ReadRecords(
    const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_MEASURED_PROCESS_H_
