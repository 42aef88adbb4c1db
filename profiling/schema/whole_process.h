// The figures of a whole process beside what the program says of itself.
//
//   AddWholeProcess(whole_process_profile, &profile);
//
// Afterwards the profile has one more benchmark, "whole_process/NAME", with the
// figures that the runner measured from outside, and a phase "unaccounted":
// RESIDENT_ANONYMOUS_BYTES beyond the highest sum of heap (absolute peak) and
// mappings that any benchmark of the program tells of. That is what the
// allocator keeps, stacks and static data, and whatever a program does not
// tell. Where an absolute peak is not known, since threads made it together, it
// is at most that of the setup and the threads' peaks added up. A figure that a
// benchmark lacks tells of nothing. Mappings are address space: those that may
// be the address space without a page, seen from outside, tell of nothing.
//
// A program whose own figures tell of less than half of its anonymous memory,
// and leave out more than 16 MB, may have left it out on purpose:
// `TellsTooLittle`, which Evaluate reports unless a threshold judges the phase.
//
// A failure of the run that was measured from outside becomes the profile's,
// unless it has one.
//
// Pure functions, thread-safe; the profile owns copies. Memory and time: of
// one benchmark.

#ifndef FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_H_
#define FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

inline constexpr char kUnaccountedPhase[] = "unaccounted";
// Nobody need explain so much: an allocator's first arenas, stacks.
inline constexpr int64_t kMostUnaccountedBytes = 16'000'000;

void AddWholeProcess(const MemoryProfile& whole_process,
                     MemoryProfile* profile);

// Returns the bytes of the phase "unaccounted"; 0 if there is none.
int64_t UnaccountedBytes(const BenchmarkMemory& whole);

// Returns whether a benchmark "whole_process/NAME" tells too little; false of
// any other.
bool TellsTooLittle(const BenchmarkMemory& whole);

// Returns whether processes of the program still ran when it had ended, so that
// its figures are too low: INCONCLUSIVE.
bool IsOutlived(const BenchmarkMemory& whole);

// Takes such benchmarks away, for readers of what does not vary.
void LeaveOutWholeProcesses(std::vector<MemoryProfile>* profiles);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_H_
