// Finds the rules that limit a benchmark's peak memory.
//
//   for (const Threshold& threshold : file.threshold()) {
//     is_limited |= SelectsBenchmark(threshold.selector(), benchmark) &&
//                   LimitsPeak(threshold, benchmark);
//   }
//
// A gate that has only minima, rules that do not block, or limits of one phase
// or of a part of the memory would accept a program that needs a hundred times
// as much. So each benchmark needs a rule that blocks and limits its whole peak
// from above.
//
// Pure functions, thread-safe; they allocate nothing.

#ifndef FOOTPRINT_GATES_JUDGE_PEAK_LIMIT_H_
#define FOOTPRINT_GATES_JUDGE_PEAK_LIMIT_H_

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether a violation of the rule gives REJECT.
bool IsBlocking(const Threshold& threshold);

// Returns whether the rule blocks and limits all memory of `benchmark` at its
// peak: the resident set of a whole process; for another benchmark the heap, by
// any metric that is never below it, or the mapped bytes if the profile has no
// figure of the heap. Checks the selector's phase, but not its label, benchmark
// or arguments.
bool LimitsPeak(const Threshold& threshold, const BenchmarkMemory& benchmark);

// Returns whether `kept` is as strict as `other` for the same figure: it blocks
// if `other` does, and limits from above if `other` does.
bool StandsInFor(const Threshold& kept, const Threshold& other);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_PEAK_LIMIT_H_
