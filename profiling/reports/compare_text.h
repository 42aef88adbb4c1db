// Two runs side by side: what became of the peak, and of each place in the
// code.
//
//   std::cout << CompareText(before, after);
//
// Of each run, the process with the highest peak of its own counts. Places are
// the same where function, file and object are: lines move. A difference of two
// estimates carries its sigma, and is marked where it is more than two of them:
// then it is hardly chance.
//
// Pure; thread-safe. Memory: the rows of both runs.

#ifndef FOOTPRINT_PROFILING_REPORTS_COMPARE_TEXT_H_
#define FOOTPRINT_PROFILING_REPORTS_COMPARE_TEXT_H_

#include <string>

#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

std::string CompareText(const MeasuredRun& before, const MeasuredRun& after);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_COMPARE_TEXT_H_
