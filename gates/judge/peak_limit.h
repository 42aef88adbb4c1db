// Which rules keep a benchmark from needing any amount of memory.
//
//   for (const Threshold& threshold : file.threshold()) {
//     is_limited |= SelectsBenchmark(threshold.selector(), benchmark) &&
//                   LimitsPeak(threshold, benchmark);
//   }
//
// A gate that has only minima, rules that do not block, limits of one phase or
// of a part of the memory would accept a program that needs a hundred times as
// much. So each benchmark needs a rule that blocks and limits its whole peak
// from above.
//
// Pure functions, thread-safe; they own nothing and need no memory.

#ifndef FOOTPRINT_GATES_JUDGE_PEAK_LIMIT_H_
#define FOOTPRINT_GATES_JUDGE_PEAK_LIMIT_H_

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether a violation of the rule rejects.
bool IsBlocking(const Threshold& threshold);

// Returns whether the rule blocks and limits all that `benchmark` holds at its
// peak: of a whole process the resident set; of another benchmark the heap, or
// what it maps if the profile has no figure of its heap. The selector's phase
// is looked at, its label, benchmark and arguments are not.
bool LimitsPeak(const Threshold& threshold, const BenchmarkMemory& benchmark);

// Returns whether `kept` judges all that `other` would for the same figure: it
// blocks if the other does, and limits from above if the other does.
bool StandsInFor(const Threshold& kept, const Threshold& other);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_PEAK_LIMIT_H_
