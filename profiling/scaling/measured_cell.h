// Runs a program once under memprof's agent, without output, and returns its
// figures.
//
//   absl::StatusOr<MeasuredCell> cell = MeasureCell({"python3", "train.py"});
//   if (cell->profile.has_failure()) ...  // and cell->output says why
//
// The program has this process's folder, limits and environment. The call first
// sets those of kSteadyVariables that are not set there; they stay set. The
// program's standard input is empty, and the last 2,000 bytes of its output are
// returned.
// Call sites are not recorded, but the peak is exact.
//
// The cell owns its texts. Not thread-safe: while it runs, the call replaces
// the process's standard input, output and error. Memory: the program's whole
// output while it runs, and 4 KiB a process. Time: the program's.

#ifndef FOOTPRINT_PROFILING_SCALING_MEASURED_CELL_H_
#define FOOTPRINT_PROFILING_SCALING_MEASURED_CELL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Names and values alternate.
inline constexpr const char* kSteadyVariables[] = {
    "PYTHONHASHSEED",       "0", "OMP_NUM_THREADS", "1",
    "OPENBLAS_NUM_THREADS", "1", "MKL_NUM_THREADS", "1"};

struct MeasuredCell {
  MemoryProfile profile;
  std::string output;
  // True if a user or a supervisor ended the run; that is not the program's
  // fault.
  bool was_interrupted = false;
};

// Runs arguments[0] with `arguments`, which must not be empty. A program that
// fails is not an error. Returns the errors of FindMeasurableProgram and
// RunWithAgent, a FileError if there is no room for the output, and kInternal
// if the program removed the folder of its records.
absl::StatusOr<MeasuredCell> MeasureCell(
    const std::vector<std::string>& arguments);

}  // namespace footprint

// Tested by scaling_test.

#endif  // FOOTPRINT_PROFILING_SCALING_MEASURED_CELL_H_
