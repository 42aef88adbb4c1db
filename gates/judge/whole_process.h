// The figures of a whole process beside what the program says of itself.
//
//   AddWholeProcess(whole_process_profile, &profile);
//
// Afterwards the profile has one more benchmark, "whole_process/NAME", with the
// figures that the runner measured from outside, and a phase "unaccounted":
// RESIDENT_ANONYMOUS_BYTES beyond the highest sum of heap (absolute peak) and
// mappings that any benchmark of the program tells of. That is what the
// allocator keeps, stacks and static data, and whatever a program does not
// tell. Where the program's figures are not known, the phase is not there.
//
// A failure of the run that was measured from outside becomes the profile's,
// unless it has one.
//
// Pure functions, thread-safe; the profile owns copies. Memory and time: of
// one benchmark.

#ifndef FOOTPRINT_GATES_JUDGE_WHOLE_PROCESS_H_
#define FOOTPRINT_GATES_JUDGE_WHOLE_PROCESS_H_

#include <vector>

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

inline constexpr char kUnaccountedPhase[] = "unaccounted";

void AddWholeProcess(const MemoryProfile& whole_process,
                     MemoryProfile* profile);

// Takes such benchmarks away, for readers of what does not vary.
void LeaveOutWholeProcesses(std::vector<MemoryProfile>* profiles);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_WHOLE_PROCESS_H_
