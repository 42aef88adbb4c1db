// The pictures of a run's page: live bytes over time, and the calls that
// allocated them.
//
//   AddTimelines(run, limits, &page);
//
// A picture without data is left out. Pure; thread-safe. Memory: the text.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_PAGE_SECTIONS_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_PAGE_SECTIONS_H_

#include <cstddef>

#include "footprint/base/page/page.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Limits on how much of a run the page shows.
struct PageLimits {
  size_t flame_graph_bytes = 100'000;
  size_t table_rows = 40;
  size_t timeline_points = 250;
  size_t timelines = 4;
};

// Adds live bytes over time of the processes with the highest peaks.
void AddTimelines(const MeasuredRun& run, const PageLimits& limits,
                  PageContent* page);

// Adds the flame graph of calls; returns whether there are any.
bool AddCalls(const MeasuredRun& run, const PageLimits& limits,
              PageContent* page);

}  // namespace footprint

// Tested by run_page_test.

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_PAGE_SECTIONS_H_
