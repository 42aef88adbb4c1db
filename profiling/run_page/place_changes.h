// Changes between two runs, by place in the code, and how sure each is.
//
//   for (const PlaceChange& change : ChangesByPlace(before, after)) {
//     if (change.at_peak.is_sure()) ...
//   }
//
// A place is the same in both runs where function, file name and object name
// are: lines move, and so do folders. Compared are the processes with the
// highest peaks. A change is sure where it is more than two of its sigmas, the
// root of the sum of both variances; of exact figures, every change is.
//
// Pure; thread-safe. The frames are the runs'. Memory: some 200 bytes a place.
// Time: linear, and sorting.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_PLACE_CHANGES_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_PLACE_CHANGES_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "footprint/profiling/run_page/place_figures.h"
#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

struct AmountChange {
  SummedAmount before;
  SummedAmount after;

  int64_t bytes() const { return after.bytes - before.bytes; }
  double sigma() const { return std::hypot(before.sigma(), after.sigma()); }
  bool is_sure() const {
    return std::abs(static_cast<double>(bytes())) > 2 * sigma();
  }
};

struct PlaceChange {
  // Of the later run, where it has the place; null: before the record began.
  const CodeFrame* frame = nullptr;
  AmountChange at_peak;
  AmountChange allocated;
};

// In no order that means something, but always the same.
std::vector<PlaceChange> ChangesByPlace(const MeasuredRun& before,
                                        const MeasuredRun& after);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_PLACE_CHANGES_H_
