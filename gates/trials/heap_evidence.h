// Says whether a heap that the profiler recorded explains the memory that the
// program has where no profiler runs.
//
//   if (IsHeapJudged(verdict) &&
//       measured_bytes > ComputeMostExplainedBytes(profile, verdict)) {
//     // The recorded heap is not the program's, or not all of its memory.
//   }
//
// The profiled run knows the heap, and a program can tell that run from the
// others and behave otherwise in it. The rule is the one of whole_process.h:
// what the heap and the mappings leave out may be up to 16 MB, or up to half. A
// figure explains no more than what a rule has judged of it, and mappings only
// where a rule judges them: a TiB of addresses that nobody touches is mapped,
// too.
//
// Pure functions, thread-safe; they own nothing and keep nothing. Memory: none.
// They cannot fail, so there is no status.

#ifndef FOOTPRINT_GATES_TRIALS_HEAP_EVIDENCE_H_
#define FOOTPRINT_GATES_TRIALS_HEAP_EVIDENCE_H_

#include <cstdint>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether a blocking rule holds by a figure that the profiled run alone
// knows, which is any but the resident peak of the whole process.
bool IsHeapJudged(const Verdict& verdict);

// The most memory that a program with this profile's heap and mappings may need
// by the rule, where `verdict` is on that profile. A profile without figures
// explains 16 MB.
int64_t ComputeMostExplainedBytes(const MemoryProfile& profile,
                                  const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_HEAP_EVIDENCE_H_
