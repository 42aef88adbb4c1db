// Memory that a program needs of a machine: the resident set of its whole
// process, with children, code, stacks and pages that the allocator keeps,
// measured from outside of runs that are as everybody's are.
//
//   ProgramMeasurement measurement;
//   measurement.label = "//memo:get_benchmark";
//   measurement.executable = "bazel-bin/memo/get_benchmark";
//   absl::StatusOr<MemoryMeasurement> measured =
//       MeasureWholeProcess(measurement, "get_benchmark_profile");
//
// The program gets its own arguments and no flag, variable or library of ours;
// nothing is read that it writes. Its own figures of its heap are judged beside
// this one, so they cannot be too low unseen. The profile has one benchmark,
// "whole_process/NAME", whose figures are STATISTICAL: the highest of all runs;
// the samples have each.
// * PEAK_RESIDENT_BYTES as whole_process_watch.h tells it, by a control group,
//   too, where one may be made, and at that moment RESIDENT_ANONYMOUS_BYTES and
//   RESIDENT_FILE_BYTES;
// * of the run that needed most, phases "part: ...", PEAK_RESIDENT_BYTES each,
//   and how far their sum is from the whole (whole_process_name.h); a remark
//   says so if that is more than a thousandth;
// * phase "control group": PEAK_RESIDENT_BYTES as the kernel counts it for a
//   group, page cache included, where one may be made
//   (base/machine/memory_group.h). Where not, a remark says why;
// * phase "untouched", PEAK_MAPPED_BYTES: address space without a page, beside
//   code and stacks;
// * phase "alive at the end", if a process still ran five seconds after the
//   program had ended: it was killed, a remark names it, and a gate is
//   INCONCLUSIVE.
// A remark has the arguments. A program that says that no benchmark ran
// (benchmark_count.h) is a failure.
//
// A program can still see that it runs here: its standard streams are /dev/null
// and a pipe, its folder is /tmp/footprint-XXXXXX, its parent is the runner,
// its environment has PATH, LANG, TZ and, if it is copied, RUNFILES_DIR alone,
// and its group, if any, has our name.
//
// The measurement must live as long as the call; the profile refers to none of
// it. Not thread-safe: see fresh_process.h. Memory: some KiB. Time: the
// program's, `process_count` times, and a twentieth for the looks.

#ifndef FOOTPRINT_PROFILING_MEASURING_MEASURE_WHOLE_PROCESS_H_
#define FOOTPRINT_PROFILING_MEASURING_MEASURE_WHOLE_PROCESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/profiling/measuring/measure_program.h"
#include "footprint/profiling/schema/profile_merge.h"

namespace footprint {

// Or a profile with `failure` set, if a run did not end well. Errors as
// MeasureProgram. `measurement.memprof` is not used.
absl::StatusOr<MemoryMeasurement> MeasureWholeProcess(
    const ProgramMeasurement& measurement, const std::string& name);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_MEASURE_WHOLE_PROCESS_H_
