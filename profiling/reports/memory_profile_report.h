// A measured run as a memory profile, which a gate judges.
//
//   absl::Status status =
//       WriteMemoryProfileFile(MemoryProfileReport(run), "run.binpb");
//
// The profile has one benchmark, the program: "train/features:10/rows:1000",
// with an argument for each "--name=value" of its command line; of a script,
// the script's name. Its phases are the stages that the program names; where it
// names none, those by themselves (imports, files).
//
// Several processes become one figure so:
// * A peak, what is left at the end, and the phases are those of the largest
//   image: the one whose own peak is the highest. An image is what fork or exec
//   began. No smaller figure could hold the program; whether others lived at
//   that moment is not asked.
// * SUM_THREAD_PEAK adds every process, with the largest of its images: a bound
//   over each way in which threads and processes could have taken turns.
// * Volume, in bytes and calls, is that of all images but those that exec
//   replaced, whose last figures nobody saw (a shell in front of the program).
// * The resident peak is the highest sum that was seen at one moment; pages
//   that two processes share count twice. It is STATISTICAL, always.
// Where a process was killed or runs on, sums are unknown, so left out.
//
// All else is EXACT as far as one run can tell (BOUNDED: a peak of threads that
// may overlap); whether it repeats, MergeProfiles says. Who held the bytes at
// the peak is there where each allocation was recorded: by stage and place,
// largest first, what adds up to the peak.
//
// The environment has the allocator behind the agent; the compiler and the C++
// library of a program that others built stay empty.
//
// The profile of a program that failed, or whose memory is not all counted, has
// the failure and no benchmark. Pure; thread-safe. Memory: the profile.

#ifndef FOOTPRINT_PROFILING_REPORTS_MEMORY_PROFILE_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_MEMORY_PROFILE_REPORT_H_

#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// The label is "//:" and the program's name: no target of Bazel's.
MemoryProfile MemoryProfileReport(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_MEMORY_PROFILE_REPORT_H_
