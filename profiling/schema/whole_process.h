// Adds the figures of a whole process to those that the program reports itself.
//
//   AddWholeProcess(whole_process_profile, &profile);
//
// Afterwards the profile has one more benchmark, "whole_process/NAME", with the
// figures that the runner measured from outside. Its phase "unaccounted" has
// the RESIDENT_ANONYMOUS_BYTES that exceed the highest sum of heap (absolute
// peak) and mappings in any benchmark of the program. These are the allocator's
// reserves, stacks, static data and whatever the program does not report. If an
// absolute peak is unknown because threads made it together, the sum of the
// setup's peak and the threads' peaks stands for it. A figure that a benchmark
// lacks counts as zero. If the program reports no benchmark, the phase is left
// out. Mappings are address space, so those that may have no pages, as seen
// from outside, count as zero too.
//
// If a program reports less than half of its anonymous memory, and leaves out
// more than 16 MB, it may have left that out on purpose. `TellsTooLittle`
// detects this, and Evaluate reports it unless a threshold judges the phase.
//
// A failure of the run that was measured from outside becomes the profile's
// failure, unless it has one.
//
// The functions change nothing but the profiles that they get by pointer;
// thread-safe for different ones. The profile owns copies. Memory and time:
// linear in both profiles.

#ifndef FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_H_
#define FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

inline constexpr char kUnaccountedPhase[] = "unaccounted";
// Unaccounted bytes that are normal: an allocator's first arenas, stacks.
inline constexpr int64_t kMostUnaccountedBytes = 16'000'000;

// Adds the benchmarks, each with its phase "unaccounted", the remarks and the
// failure of `whole_process` to `profile`.
void AddWholeProcess(const MemoryProfile& whole_process,
                     MemoryProfile* profile);

// Returns the bytes of the phase "unaccounted"; 0 without such a phase.
int64_t UnaccountedBytes(const BenchmarkMemory& whole);

// Returns whether a benchmark's phase "unaccounted" shows that too little is
// reported; false without such a phase. Besides "whole_process/NAME", the
// benchmark of memprof (memory_profile_report.h) may have one.
bool TellsTooLittle(const BenchmarkMemory& whole);

// Returns whether processes of the program were still running when it had
// ended. Its figures are then too low, and the verdict is INCONCLUSIVE.
bool IsOutlived(const BenchmarkMemory& whole);

// Removes the benchmarks of whole processes, for readers that want only figures
// that do not vary.
void LeaveOutWholeProcesses(std::vector<MemoryProfile>* profiles);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_H_
