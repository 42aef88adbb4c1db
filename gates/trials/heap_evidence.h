// Computes whether a heap that the profiler recorded explains the memory that
// the program needs without the profiler.
//
//   if (IsHeapJudged(verdict) &&
//       measured_bytes > ComputeMostExplainedBytes(profile, verdict)) {
//     // The recorded heap is false, or not all of the program's memory.
//   }
//
// Only the profiled run measures the heap, and a program can detect that run
// and behave differently in it. The rule is that of whole_process.h: the heap
// and the mappings may leave out up to 16 MB, or up to half of the memory. A
// figure explains no more than the value that a rule has judged. Mappings count
// only if a rule judges them, since a TiB of untouched addresses is mapped too.
//
// Pure functions, thread-safe; they allocate nothing and cannot fail.

#ifndef FOOTPRINT_GATES_TRIALS_HEAP_EVIDENCE_H_
#define FOOTPRINT_GATES_TRIALS_HEAP_EVIDENCE_H_

#include <cstdint>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether a blocking rule holds by a figure that only the profiled run
// measures: any figure except the resident peak of the whole process.
bool IsHeapJudged(const Verdict& verdict);

// Returns the most memory that a program with this profile's heap and mappings
// may need by the rule. `verdict` must be the verdict on that profile. A
// profile without figures explains 16 MB, unless a rule judges mappings.
int64_t ComputeMostExplainedBytes(const MemoryProfile& profile,
                                  const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_HEAP_EVIDENCE_H_
