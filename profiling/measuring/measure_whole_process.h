// Measures the memory that a program needs of a machine: the resident set of
// its whole process, with children, code, stacks and pages that the allocator
// keeps. It is measured from outside, in runs like those of any user.
//
//   ProgramMeasurement measurement;
//   measurement.label = "//memo:get_benchmark";
//   measurement.executable = "bazel-bin/memo/get_benchmark";
//   absl::StatusOr<MemoryMeasurement> measured =
//       MeasureWholeProcess(measurement, "get_benchmark_profile");
//
// The program gets its own arguments and none of our flags, variables or
// libraries. Of what it writes, only the end of its standard error is read: for
// the number of benchmarks that ran, and for the record of a failure. Its own
// figures of its heap are judged beside this one, so that figures which are too
// low are noticed. The profile has one benchmark, "whole_process/NAME", whose
// figures are STATISTICAL: the highest of all runs; the samples have each
// run's.
// * PEAK_RESIDENT_BYTES as whole_process_watch.h finds it, with the help of a
//   control group if one can be made, and at that moment
//   RESIDENT_ANONYMOUS_BYTES and RESIDENT_FILE_BYTES;
// * phases "part: ..." of the run that needed most, with PEAK_RESIDENT_BYTES
//   each, and the difference of their sum to the whole (whole_process_name.h);
//   a remark says so if that is more than a thousandth;
// * phase "control group": PEAK_RESIDENT_BYTES as the kernel counts it for a
//   group, page cache included, if one can be made
//   (base/machine/memory_group.h). If not, a remark says why;
// * phase "untouched", PEAK_MAPPED_BYTES: address space without a page, except
//   code and stacks;
// * phase "alive at the end", if a process still ran five seconds after the
//   program had ended: it was killed, a remark names it, and a gate is
//   INCONCLUSIVE.
// A remark lists the arguments. A program that reports that no benchmark ran
// (benchmark_count.h) is a failure.
//
// A program can still detect that it runs here: its standard streams are
// /dev/null and a pipe, its folder is /tmp/footprint-XXXXXX (for a Bazel test,
// one below it), its parent is the runner, its environment has only PATH, LANG,
// TZ, the measurement's own variables and, if it is copied, RUNFILES_DIR and a
// test's variables (measure_program.h), and its group, if any, has our name.
//
// The measurement must live as long as the call; the profile does not refer to
// it. Not thread-safe: see fresh_process.h. Memory: some KiB. Time: the
// program's, `process_count` times, and a twentieth more for the samples.

#ifndef FOOTPRINT_PROFILING_MEASURING_MEASURE_WHOLE_PROCESS_H_
#define FOOTPRINT_PROFILING_MEASURING_MEASURE_WHOLE_PROCESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/profiling/measuring/measure_program.h"
#include "footprint/profiling/schema/profile_merge.h"

namespace footprint {

// Returns the profile, or one with `failure` set if a run did not end well.
// Errors are those of MeasureProgram, except that a process count of 1 is
// enough. `measurement.memprof` is not used.
absl::StatusOr<MemoryMeasurement> MeasureWholeProcess(
    const ProgramMeasurement& measurement, const std::string& name);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_MEASURE_WHOLE_PROCESS_H_
