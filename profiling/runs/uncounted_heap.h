// Finds whether the heap of a measured process was counted, and if not, why.
//
//   if (!IsCounted(image)) {
//     Warn(absl::StrCat(DescribeProcess(image), " ",
//                       DescribeUncountedHeap(image)));
//   }
//
// Pure functions, thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_RUNS_UNCOUNTED_HEAP_H_
#define FOOTPRINT_PROFILING_RUNS_UNCOUNTED_HEAP_H_

#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Returns whether every allocation of the process passed the agent with a known
// size. Returns false also if it never allocated.
bool IsCounted(const MeasuredImage& image);

// Returns why IsCounted is false, as the predicate of a sentence whose subject
// is the process. Call it only then.
std::string DescribeUncountedHeap(const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_UNCOUNTED_HEAP_H_
