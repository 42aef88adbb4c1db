// Converts a measured run to a memory profile, which a gate judges.
//
//   absl::Status status =
//       WriteMemoryProfileFile(MemoryProfileReport(run), "run.binpb");
//
// The profile has one benchmark, the program: "train/features:10/rows:1000",
// with an argument for each "--name=value" of its command line. For a Python
// script, it has the script's name. Its phases are the stages that the program
// names; if it names none, they are its imports and files.
//
// Several processes become one figure as follows:
// * A peak, the bytes left at the end, and the phases are those of the largest
//   image, whose own peak is the highest. An image is what fork or exec began.
//   The program needs at least that much; the figure ignores whether other
//   processes were alive at that moment.
// * SUM_THREAD_PEAK adds every process, with the largest of its images. It is a
//   bound for every order in which threads and processes could run.
// * Volume, in bytes and calls, is that of all images except those that exec
//   replaced, whose last figures nobody saw (a shell in front of the program).
// * The resident peak is the highest sum that was seen at one moment; pages
//   that two processes share count twice. It is always STATISTICAL.
// If a process was killed or runs on, sums are unknown and left out.
//
// All other figures are EXACT as far as one run can show (BOUNDED for a peak of
// threads that may overlap). MergeProfiles finds whether they repeat. If each
// allocation was recorded, the profile has the attribution of the peak by stage
// and line. It has the 50 largest and then "other sites", and adds up to the
// peak. The attribution of the peak of mapped bytes is like it, and is there
// also if allocations were sampled.
//
// If a process's heap explains too little of its anonymous memory
// (unaccounted_memory.h), the profile also has that memory as STATISTICAL, and
// a phase "unaccounted".
//
// The environment names the allocator behind the agent. The compiler and the
// C++ library stay empty, because others built the program.
//
// If the program failed, or not all of its memory is counted, the profile has a
// failure and no benchmark. Pure; thread-safe. Memory: the profile.

#ifndef FOOTPRINT_PROFILING_REPORTS_MEMORY_PROFILE_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_MEMORY_PROFILE_REPORT_H_

#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns the profile. Its label is "//:" and the program's name, which is not
// a Bazel target.
MemoryProfile MemoryProfileReport(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_MEMORY_PROFILE_REPORT_H_
