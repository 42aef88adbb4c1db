// All figures of a process by the place in the code that they are put down to,
// (code_places.h).
//
//   for (const PlaceFigures& place : FiguresByPlace(run, image)) {
//     std::cout << place.frame->function() << " " << place.at_peak.bytes;
//   }
//
// Made for millions of sites. They add up to the bytes of the process's sites,
// and to the copies and samples of processor time of all processes, as the text
// report has them.
//
// Pure; thread-safe. The frames are the run's. Memory: some 150 bytes a place,
// and that of CodePlaces. Time: linear.

#ifndef FOOTPRINT_PROFILING_RUN_PAGE_PLACE_FIGURES_H_
#define FOOTPRINT_PROFILING_RUN_PAGE_PLACE_FIGURES_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

// An Amount, or a sum of some.
struct SummedAmount {
  int64_t bytes = 0;
  int64_t count = 0;
  double variance = 0;

  double sigma() const { return SigmaBytes(bytes, variance); }

  void Add(const Amount& amount) {
    bytes += amount.bytes();
    count += amount.count();
    variance += amount.variance() > 0 ? amount.variance() : 0;
  }

  void Add(const SummedAmount& amount) {
    bytes += amount.bytes;
    count += amount.count;
    variance += amount.variance;
  }
};

struct PlaceFigures {
  // Null: before the record began.
  const CodeFrame* frame = nullptr;
  SummedAmount at_peak;
  SummedAmount at_end;
  SummedAmount allocated;
  SummedAmount copied;
  int64_t temporary_count = 0;
  int64_t native_ns = 0;
  int64_t interpreter_ns = 0;
  int64_t system_ns = 0;
};

// Of the sites of `image`, and the copies and samples of the whole run. The
// first is the one without a frame.
std::vector<PlaceFigures> FiguresByPlace(const MeasuredRun& run,
                                         const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUN_PAGE_PLACE_FIGURES_H_
