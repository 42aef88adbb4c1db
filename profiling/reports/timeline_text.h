// Draws live bytes over time as a line of blocks for a terminal, with the peak
// marked and the stages below.
//
//   std::cerr << TimelineText(image);
//
// The text is empty if the timeline has fewer than two points or the peak is 0;
// otherwise it ends with a newline. Pure; thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_REPORTS_TIMELINE_TEXT_H_
#define FOOTPRINT_PROFILING_REPORTS_TIMELINE_TEXT_H_

#include <cstddef>
#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

std::string TimelineText(const MeasuredImage& image);

// Returns only the blocks, without a newline: `columns` of them, which must be
// at least 1. The text is empty when that of TimelineText is.
std::string TimelineBlocks(const MeasuredImage& image, size_t columns);

}  // namespace footprint

// Tested by text_report_test.

#endif  // FOOTPRINT_PROFILING_REPORTS_TIMELINE_TEXT_H_
