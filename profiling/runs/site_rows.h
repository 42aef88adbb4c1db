// The call sites of a process by the place in the code that asked for the
// memory: the innermost call that does not allocate for its caller.
//
//   for (const SiteRow& row : SiteRows(run, image)) {
//     std::cout << row.at_peak.bytes() << " " << run.frames(row.frame)...
//   }
//
// The rows add up to what the sites add up to. Pure; thread-safe. Memory: the
// rows, and 4 bytes a call. Time: linear in sites and calls.

#ifndef FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_
#define FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

struct SiteRow {
  // The place; "[before the agent began]" where there is no call.
  CodeFrame frame;
  // Of the row's sites, the call with most at the peak, as sites name it.
  uint32_t largest_call = 0;
  Amount at_peak;
  Amount at_end;
  Amount allocated;
  int64_t temporary_count = 0;
};

// Those with the most bytes at the peak first.
std::vector<SiteRow> SiteRows(const MeasuredRun& run,
                              const MeasuredImage& image);

// The place of a call, as sites name it. Below a call of Python code, a native
// one is the place only if its line is known; else the line of Python is.
CodeFrame PlaceOf(const MeasuredRun& run, uint32_t call);

// Whether the frame allocates, or interprets, for the one around it.
bool ServesItsCaller(const CodeFrame& frame);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_SITE_ROWS_H_
