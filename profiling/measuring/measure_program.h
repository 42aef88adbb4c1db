// Measures a program in several fresh processes that differ in what must not
// matter: the layout of the address space and the size of the environment.
//
//   ProgramMeasurement measurement;
//   measurement.label = "//memo:get_benchmark";
//   measurement.executable = "bazel-bin/memo/get_benchmark";
//   absl::StatusOr<MemoryMeasurement> measured = MeasureProgram(measurement);
//
// The program is called with --memory_profile_out= and --memory_samples_out=
// before its own arguments; the second is optional to write. It sees nothing of
// the host but what it asks for: its name is the label's last part, its folder
// a new one of a fixed length in /tmp that holds links to the data files under
// their given names, its environment PATH, LANG=C, TZ=UTC and a padding.
// fresh_process.h says what else is fixed.
//
// A program that knows nothing of profiles is measured as it is if `memprof` is
// given: memprof runs it and writes the profile. It is called with its own
// arguments alone; a copy of it stands in the folder under its own name, with
// copies of its run-time files in "NAME.runfiles", so that no path of this
// machine reaches its heap. Its environment has RUNFILES_DIR and
// kSteadyEnvironment besides; there is no padding, which an interpreter's heap
// would hold: its processes differ in the address-space layout alone. Figures
// that do not repeat stay as the highest of all processes, for limits.
//
// The first process has the unrandomised address-space layout, every second one
// after it a random layout. Where the system forbids the choice, the processes
// still differ in the padding, and standard error says so.
//
// A runner that is killed leaves its folder; the next measurement on the
// machine removes it.
//
// The measurement must live as long as the call, and owns its texts; the
// profile refers to none of them. Not thread-safe: see fresh_process.h. Memory:
// the profiles. Time: the program's, `process_count` times in turn.

#ifndef FOOTPRINT_PROFILING_MEASURING_MEASURE_PROGRAM_H_
#define FOOTPRINT_PROFILING_MEASURING_MEASURE_PROGRAM_H_

#include <csignal>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/measuring/measurement_folder.h"
#include "footprint/profiling/schema/profile_merge.h"

namespace footprint {

// Variables that keep interpreters and numeric libraries from doing otherwise
// each time; the profile's remarks say them.
inline constexpr const char* kSteadyEnvironment[] = {
    "PYTHONHASHSEED=0",  "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1",
    "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",    "MKL_NUM_THREADS=1",
};

struct ProgramMeasurement {
  std::string label;
  std::string executable;
  // The program memprof; empty: the program writes its profile by itself.
  std::string memprof;
  // memprof also says which lines hold the bytes at the peak. It then records
  // each call, which takes up to ten times as long. The profile has the lines
  // only if every process gave the same.
  bool has_sites = false;
  // The program is copied into the folder of measure_whole_process.h, as for
  // memprof, if this is set.
  bool is_copied = false;
  // A program that is copied finds these files below "NAME.runfiles".
  std::vector<DataFile> runfiles;
  std::vector<std::string> arguments;
  std::vector<DataFile> data;
  int process_count = kMinimumProcessCount;
  int time_limit_seconds = 300;  // of each process, with those it starts
  // Non-zero ends the measurement. May be null.
  const volatile std::sig_atomic_t* is_cancelled = nullptr;
};

// The last word of a label: the program's name in its folder.
std::string ProgramName(const std::string& label);

// kInvalidArgument as MeasureProgram.
absl::Status CheckMeasurement(const ProgramMeasurement& measurement,
                              int minimum_process_count);

// The program's profiles and samples, merged; or a profile with `failure` set,
// from the first process that crashed, hung, ended with another status than 0,
// wrote no profile, a bad one, or one that does not fit the others. The same
// failure gives the same record. If benchmarks failed and the program says
// which (BENCHMARKS_FAILED, then its exit status may be any), those that no
// process says so of are there beside the failure.
//
// kInvalidArgument: a process count below kMinimumProcessCount, a time limit
// below 1, a label without a target, or a data name that is absolute, leaves
// the folder, or is given twice. kNotFound: a data file does not exist.
// kCancelled, and kInternal if the system has no room for a folder or process.
absl::StatusOr<MemoryMeasurement> MeasureProgram(
    const ProgramMeasurement& measurement);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_MEASURE_PROGRAM_H_
