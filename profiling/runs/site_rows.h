// Adds up the call sites of a process by the place in the code that requested
// the memory (code_places.h).
//
//   for (const SiteRow& row : SiteRows(run, image)) {
//     std::cout << row.at_peak.bytes() << " " << row.frame.function();
//   }
//
// The rows have the same sums as the sites. Pure; thread-safe. Memory: twice
// the rows, and CodePlaces's. Time: linear in sites and calls, plus the sorting
// of the rows. For many processes of a run, make one CodePlaces and pass it;
// then the time does not depend on the calls.

#ifndef FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_
#define FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {

struct SiteRow {
  // The place; its function is "[before the agent began]" if there is no call.
  CodeFrame frame;
  // The call with most bytes at the peak among the row's sites, as in
  // SiteAmounts.call.
  uint32_t largest_call = 0;
  Amount at_peak;
  Amount at_end;
  Amount allocated;
  // Blocks that were freed before their thread's next allocation.
  int64_t temporary_count = 0;
};

// Returns the rows, those with most bytes at the peak first.
std::vector<SiteRow> SiteRows(const MeasuredRun& run,
                              const MeasuredImage& image);

// Does the same for an image of the places' run.
std::vector<SiteRow> SiteRows(const CodePlaces& places,
                              const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_
