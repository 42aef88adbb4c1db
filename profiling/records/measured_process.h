// The processes that the agent measured, as values. Reads the folder that their
// agents wrote to.
//
//   absl::StatusOr<std::vector<MeasuredProcess>> processes =
//       ReadRecords(folder);
//
// Processes may still run and write; then the figures are those of the moment.
//
// Plain values: the files are closed again and may be deleted. Thread-safe.
// Memory: 4 KiB a process, its sites, stages and samples. Errors: those of
// FileError for a folder that cannot be listed or a file that cannot be read;
// kInvalidArgument for a file that is not a record, is of another version or is
// damaged; kInvalidArgument or kDataLoss for a file that is cut short.

#ifndef FOOTPRINT_PROFILING_RECORDS_MEASURED_PROCESS_H_
#define FOOTPRINT_PROFILING_RECORDS_MEASURED_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/records/stack_tallies.h"

namespace footprint {

// One image of one process, which began with fork or exec.
struct MeasuredProcess {
  // The process's own figures, its stages and notes, as reports have them.
  // Figures of call sites are added later. `end` is KILLED also for a process
  // that still runs or became another program.
  MeasuredImage figures;

  // The paths of the shared objects at the end by exit, in the order in which
  // they were loaded; empty after another end.
  std::vector<std::string> loaded_objects;

  // The interpreter's codes; not set if the process is no Python interpreter.
  std::optional<PythonCodes> python;

  // The call sites; not set if they were not recorded.
  std::optional<SiteProfile> sites;
  // The growth of the sites; not set if it was not recorded.
  std::optional<GrowthProfile> growth;
  // Index of the stage at the peak in the figures' stages. Sites and points use
  // the same indices.
  uint32_t peak_stage = 0;
  // True if the recent peak was restarted (published_heap.h), so that the
  // sites' figures at the recent peak are not those at the peak.
  bool has_recent_peak = false;
  // The samples; not set if nothing was sampled.
  std::optional<StackTallies> processor_time;
  std::optional<StackTallies> copies;
};

// Returns the processes in the order in which they began.
absl::StatusOr<std::vector<MeasuredProcess>> ReadRecords(
    const std::string& folder);

// Reads the record of one process image, a file FOLDER/PID.IMAGE.record, and
// what lies beside it. Returns nothing if the process has only begun to write
// the record, or found no room for it.
absl::StatusOr<std::optional<MeasuredProcess>> ReadRecord(
    const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_MEASURED_PROCESS_H_
