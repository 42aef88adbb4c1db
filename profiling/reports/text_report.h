// The memory and time that a run needed, in words for a terminal.
//
//   TextOptions options;
//   options.is_colored = isatty(STDERR_FILENO);
//   std::cerr << TextReport(run, options);
//
// About the process with the highest peak of its own; the others stand in a
// table at the end. Pure; thread-safe. Memory: the text, and the rows of call
// sites.

#ifndef FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_

#include <string>

#include "footprint/profiling/reports/report_threshold.h"
#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

struct TextOptions {
  bool is_colored = false;
  // Of the peak and of the processor time.
  ReportThreshold memory_threshold;
  ReportThreshold cpu_threshold;
};

std::string TextReport(const MeasuredRun& run, const TextOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_
