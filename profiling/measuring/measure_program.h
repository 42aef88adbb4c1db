// Measures a program in several fresh processes that differ in conditions that
// must not matter: the layout of the address space and the size of the
// environment.
//
//   ProgramMeasurement measurement;
//   measurement.label = "//memo:get_benchmark";
//   measurement.executable = "bazel-bin/memo/get_benchmark";
//   absl::StatusOr<MemoryMeasurement> measured = MeasureProgram(measurement);
//
// The program is called with --memory_profile_out= and --memory_samples_out=
// before its own arguments; it need not write the second. It sees nothing of
// the host except what it asks for: its name is the label's last part; its
// folder is a new one of a fixed length in /tmp with links to the data files
// under their given names; its environment has PATH, LANG=C, TZ=UTC, a padding
// and the measurement's own variables. fresh_process.h says what else is fixed.
//
// A program that cannot write profiles is measured as it is if `memprof` is
// given: memprof runs it and writes the profile. It is called with only its own
// arguments. A copy of it is in the folder under its own name, with copies of
// its run-time files in "NAME.runfiles", so that no path of this machine
// reaches its heap. Its environment also has RUNFILES_DIR and
// kSteadyEnvironment. There is no padding, which an interpreter's heap would
// hold, so the processes differ only in the address-space layout. For figures
// that do not repeat, the highest of all processes is kept, for limits.
//
// A Bazel test is such a program, too. It starts in its workspace below
// NAME.runfiles under its full path, as Bazel runs it, and has the variables
// that name the folders of a test (TEST_SRCDIR, TEST_TMPDIR ...).
//
// Processes 1, 3, 5 ... have the unrandomised address-space layout, and
// processes 2, 4, 6 ... a random one. If the system forbids the choice,
// standard error says so, and the processes differ only in the padding, which a
// program under memprof does not have.
//
// A runner that is killed leaves its folder, which the next measurement on the
// machine removes.
//
// The measurement must live as long as the call, and owns its texts; the
// profile refers to none of them. Not thread-safe: see fresh_process.h. Memory:
// the profiles. Time: the program's, `process_count` times, one after the
// other.

#ifndef FOOTPRINT_PROFILING_MEASURING_MEASURE_PROGRAM_H_
#define FOOTPRINT_PROFILING_MEASURING_MEASURE_PROGRAM_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/profiling/measuring/program_measurement.h"
#include "footprint/profiling/schema/profile_merge.h"

namespace footprint {

// Variables that make interpreters and numeric libraries repeat. The profile's
// remarks list them.
inline constexpr const char* kSteadyEnvironment[] = {
    "PYTHONHASHSEED=0",  "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1",
    "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",    "MKL_NUM_THREADS=1",
};

// Returns kInvalidArgument for the same reasons as MeasureProgram, as far as
// they do not depend on files.
absl::Status CheckMeasurement(const ProgramMeasurement& measurement,
                              int minimum_process_count);

// Returns the program's profiles and samples, merged; or a profile with
// `failure` set, from the first process that crashed, hung, ended with a status
// other than 0, wrote no profile, a bad one, or one that does not fit the
// others. The same failure gives the same record. If benchmarks failed and the
// program says which (BENCHMARKS_FAILED; then it may have any exit status), the
// result has the failure and the benchmarks that failed in no process.
//
// Returns kInvalidArgument for a process count below kMinimumProcessCount, a
// time limit below 1, a label without a colon and a target, a data name that is
// empty, absolute, leaves the folder, is given twice or is that of a file which
// the runner makes, and a file that cannot be linked or copied; kNotFound if a
// data file does not exist; kCancelled if `is_cancelled` became non-zero; and
// kInternal if the system has no room for a folder or process, or a descendant
// survives SIGKILL.
absl::StatusOr<MemoryMeasurement> MeasureProgram(
    const ProgramMeasurement& measurement);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_MEASURE_PROGRAM_H_
