// What a run needed, in words for a terminal.
//
//   std::cerr << TextReport(run);
//
// Pure; thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_

#include <string>

#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

std::string TextReport(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_
