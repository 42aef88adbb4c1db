// The call sites of a process by the place in the code that asked for the
// memory (code_places.h).
//
//   for (const SiteRow& row : SiteRows(run, image)) {
//     std::cout << row.at_peak.bytes() << " " << run.frames(row.frame)...
//   }
//
// The rows add up to what the sites add up to. Pure; thread-safe. Memory: the
// rows, twice, and that of CodePlaces. Time: linear in sites and calls; of many
// processes of a run, whose places are found once, in their sites alone.

#ifndef FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_
#define FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {

struct SiteRow {
  // "[before the agent began]" where there is no call.
  CodeFrame frame;
  // The call with most at the peak of the row's sites, as sites name it.
  uint32_t largest_call = 0;
  Amount at_peak;
  Amount at_end;
  Amount allocated;
  int64_t temporary_count = 0;
};

// Returns the rows with the most bytes at the peak first.
std::vector<SiteRow> SiteRows(const MeasuredRun& run,
                              const MeasuredImage& image);

// The same, of an image of the places' run.
std::vector<SiteRow> SiteRows(const CodePlaces& places,
                              const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_
