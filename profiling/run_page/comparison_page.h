// Shows two measured runs beside each other, as one page that needs no network.
//
//   absl::Status status = ReplaceFile(
//       "change.html", ComparisonPage(before, after), ToDisk::kFlush);
//
// The page has figures, a flame graph whose colours show growth, and the lines
// of code and stages that changed; for estimates it says whether the change may
// be chance. Tables compare the processes with the highest peaks. The page is
// limited like that of run_page.h.
//
// Pure; thread-safe. Names from the runs are escaped. Memory: some 20 bytes a
// call. Time: linear in calls and sites.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_COMPARISON_PAGE_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_COMPARISON_PAGE_H_

#include <string>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

std::string ComparisonPage(const MeasuredRun& before, const MeasuredRun& after);

}  // namespace footprint

// Tested by run_page_test.

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_COMPARISON_PAGE_H_
