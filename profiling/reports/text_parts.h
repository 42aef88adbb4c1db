// The parts of a text report, each in a file of its own. A part of which the
// run knows nothing is empty.
//
//   absl::StrAppend(&text, ProcessText(run));
//
// Each ends with a newline, unless it is empty. Pure; thread-safe. Memory: the
// text.

#ifndef FOOTPRINT_PROFILING_REPORTS_TEXT_PARTS_H_
#define FOOTPRINT_PROFILING_REPORTS_TEXT_PARTS_H_

#include <string>

#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

// Peak, when and where; resident, mapped, allocated.
std::string HeadlineText(const MeasuredRun& run, const MeasuredImage& image);

// What is not in the figures, so that nobody takes them for the whole.
std::string WarningText(const MeasuredRun& run, const MeasuredImage& image);

// What each stage needed: those that the program names, imports, data files.
std::string StageText(const MeasuredImage& image);

// The places with most bytes at the peak.
std::string SiteText(const MeasuredRun& run, const MeasuredImage& image);

// The parts of the resident set, graphics memory, a container's limit.
std::string MachineText(const MeasuredRun& run, const MeasuredImage& image);

// Every process, where there is more than one.
std::string ProcessText(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_TEXT_PARTS_H_
