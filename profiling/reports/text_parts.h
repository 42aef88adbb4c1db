// The parts of a text report, each written by a file of its own.
//
//   absl::StrAppend(&text, ProcessText(run));
//
// A part is empty if the run has no figures for it; else it ends with a
// newline. Pure; thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_REPORTS_TEXT_PARTS_H_
#define FOOTPRINT_PROFILING_REPORTS_TEXT_PARTS_H_

#include <string>
#include <vector>

#include "footprint/profiling/reports/report_threshold.h"
#include "footprint/profiling/runs/measured_run.pb.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {

// Peak, when and where; resident, mapped, allocated.
std::string HeadlineText(const MeasuredRun& run, const MeasuredImage& image);

// Gaps in the figures, so that nobody takes them for the whole.
std::string WarningText(const MeasuredRun& run, const MeasuredImage& image);

// Live bytes over time as a line of blocks, the peak marked, and which stage it
// was.
std::string TimelineText(const MeasuredImage& image);

// The rows are SiteRows(run, image), here and below. The places with most bytes
// at the peak.
std::string SiteText(const MeasuredRun& run, const MeasuredImage& image,
                     const std::vector<SiteRow>& rows,
                     const ReportThreshold& threshold);

// How the largest of them were called.
std::string CallPathText(const MeasuredRun& run, const MeasuredImage& image,
                         const std::vector<SiteRow>& rows);

// Blocks that were freed before the thread's next allocation.
// `is_sampled`: the numbers are estimates.
std::string TemporaryText(const std::vector<SiteRow>& rows, bool is_sampled);

// Blocks that were left when the process ended.
std::string LeftText(const MeasuredImage& image,
                     const std::vector<SiteRow>& rows);

// Sites that grew all the while.
std::string LeakText(const MeasuredRun& run, const MeasuredImage& image);

// Figures of the stages that the program names, of imports and of data files.
std::string StageText(const MeasuredImage& image);

std::string ThreadText(const MeasuredImage& image);

// Where processor time went, in all processes together.
std::string ProcessorText(const MeasuredRun& run,
                          const ReportThreshold& threshold);

// Who copied, in all processes together.
std::string CopyText(const MeasuredRun& run);

// The parts of the resident set, graphics memory, a container's limit.
std::string MachineText(const MeasuredRun& run, const MeasuredImage& image);

// The processes that needed most and those that were killed, in the order in
// which they began, where there is more than one.
std::string ProcessText(const MeasuredRun& run);

}  // namespace footprint

// Tested by text_report_test and stage_text_test.

#endif  // FOOTPRINT_PROFILING_REPORTS_TEXT_PARTS_H_
