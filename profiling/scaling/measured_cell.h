// Runs a program once under memprof's agent, quietly, and gives its figures.
//
//   const MeasuredCell cell = MeasureCell({"python3", "train.py"});
//   if (cell.profile.has_failure()) ...  // and cell.output says why
//
// The program has this process's folder, limits and environment, and those of
// kSteadyVariables that are not set there. Its standard input is empty, and the
// end of its output is returned. Call sites are not recorded; the peak is still
// exact.
//
// The cell owns its texts. Not thread-safe: the call replaces standard input,
// output and error of the process while it runs. Memory: the output's end, 4
// KiB a process. Time: the program's.

#ifndef FOOTPRINT_PROFILING_SCALING_MEASURED_CELL_H_
#define FOOTPRINT_PROFILING_SCALING_MEASURED_CELL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Name and value by turns.
inline constexpr const char* kSteadyVariables[] = {
    "PYTHONHASHSEED",       "0", "OMP_NUM_THREADS", "1",
    "OPENBLAS_NUM_THREADS", "1", "MKL_NUM_THREADS", "1"};

struct MeasuredCell {
  MemoryProfile profile;
  std::string output;
  // A user or a supervisor wanted the end: not a fault of the program.
  bool was_interrupted = false;
};

// An error: the program cannot be measured, whatever its arguments are.
absl::StatusOr<MeasuredCell> MeasureCell(
    const std::vector<std::string>& arguments);

}  // namespace footprint

// Tested by scaling_test.

#endif  // FOOTPRINT_PROFILING_SCALING_MEASURED_CELL_H_
