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
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/records/python_codes.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/records/stack_tallies.h"

namespace footprint {

// One image of one process: what fork or exec began.
struct MeasuredProcess {
  // The process's own figures, its stages and notes, as reports have them; what
  // hangs on call sites is not there yet. `end` is KILLED for a process that
  // runs on or became another program, too.
  MeasuredImage figures;

  // The paths of the shared objects as of the end by exit, in the order in
  // which they were loaded; empty after another end.
  std::vector<std::string> loaded_objects;

  // The interpreter's codes; not set if the process is no Python interpreter.
  std::optional<PythonCodes> python;

  // The call sites; not set if they were not recorded.
  std::optional<SiteProfile> sites;
  // The growth of the sites; not set: not followed.
  std::optional<GrowthProfile> growth;
  // Index of the figures' stages, as sites and points name them.
  uint32_t peak_stage = 0;
  // The samples; not set if nothing was sampled.
  std::optional<StackTallies> processor_time;
  std::optional<StackTallies> copies;
};

// Returns the processes in the order in which they began.
absl::StatusOr<std::vector<MeasuredProcess>> ReadRecords(
    const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_MEASURED_PROCESS_H_
