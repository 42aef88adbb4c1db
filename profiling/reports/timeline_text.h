// Draws live bytes over time as a line of blocks for a terminal, with the peak
// marked and the stages below.
//
//   std::cerr << TimelineText(image);
//
// Empty if the process has no timeline; otherwise it ends with a newline. Pure;
// thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_REPORTS_TIMELINE_TEXT_H_
#define FOOTPRINT_PROFILING_REPORTS_TIMELINE_TEXT_H_

#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

std::string TimelineText(const MeasuredImage& image);

}  // namespace footprint

// Tested by text_report_test.

#endif  // FOOTPRINT_PROFILING_REPORTS_TIMELINE_TEXT_H_
