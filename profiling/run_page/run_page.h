// Writes one measured run as a page that needs no network.
//
//   absl::Status status =
//       ReplaceFile("run.html", RunPage(run), ToDisk::kFlush);
//
// The page has the peak with its time, place and owner; live bytes over time; a
// flame graph; lines of code, stages, threads, processes, leaks, copies,
// processor time and resident parts. Bytes that were not counted are named at
// its top, and figures that were not measured at its end. Further rows are
// added up, so the page has a few hundred kB however large the run is. It shows
// less until it has at most kMostPageBytes, but always two rows of each table.
//
// Pure and thread-safe if the options' `source` is. A run may have any names.
// Memory: some 20 bytes a call, and the page. Time: linear in calls and sites.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_RUN_PAGE_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_RUN_PAGE_H_

#include <cstddef>
#include <string>

#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/reports/run_report.h"

namespace footprint {

inline constexpr size_t kMostPageBytes = 300'000;

// Returns the page of a run that CheckMeasuredRun (measured_run_file.h)
// accepts.
std::string RunPage(const MeasuredRun& run,
                    const RunReportOptions& options = {});

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_RUN_PAGE_H_
