// Computes the probability that a place in a program leaks, which means that it
// keeps growing.
//
//   // The least bytes that were live there in windows of equal length.
//   const double floors[] = {10, 20, 31, 40, 50, 62, 70, 80, 91, 100};
//   LeakProbability(floors);  // 0.87
//
// A leak raises the least bytes live in each window above those of the window
// before; memory that is freed in the end does not, however much it is. Each
// window after the first is a rise or not. One of three laws made them, all
// equally likely beforehand:
//
//   grows    each window is a rise with one probability, which is above 3/4
//   stays    the same, with a probability below 3/4; ups and downs have 1/2
//   bounded  first "grows" and from some window on "stays": a cache that was
//            filled, data that was loaded
//
// Nothing else is known of a probability, so it is uniform. The result is the
// chance of the first law given the windows, by Bayes's rule. It is below 1
// even if all windows rose, since growth may end later: at most 0.96 for the 24
// windows of a growth record (growth_record.h).
//
// Memory that a program keeps on purpose and adds to for ever cannot be told
// from a leak by its allocations, so it is found as well.
//
// Source: Laplace's rule of succession (1774), with the change point of
// A. F. M. Smith (1975). Scalene's score, 1 - (frees + 1) / (allocations -
// frees + 2) of one block at each new peak (E. Berger et al., OSDI 2023),
// ignores when a place grew: data that is loaded once scores as high as a leak,
// and a leak of one block in ten scores nothing.
//
// Pure; thread-safe.

#ifndef FOOTPRINT_PROFILING_RUNS_LEAK_PROBABILITY_H_
#define FOOTPRINT_PROFILING_RUNS_LEAK_PROBABILITY_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

// The sentence beside every list of suspected leaks.
inline constexpr absl::string_view kLeakCaveat =
    "A list or a cache that is kept on purpose and filled until the program "
    "ends looks like a leak.";

// Returns the probability. Returns 0 if nothing can be said, if the bytes are
// gone (below nine tenths of the highest floor), or if growth has nearly
// stopped: in the last third it was less than half as fast as overall. The law
// "bounded" misses the last case if the contents of a full cache change in
// size, because it knows only whether a window rose, not by how much.
double LeakProbability(absl::Span<const double> floor_bytes);

// Joins adjacent windows, the same number each, so that each has on average at
// least 4 of the `sample_count` samples of the growth. A window with fewer
// could have none by chance, which would look like a pause. If windows are left
// over, the first ones are dropped. Returns no window if fewer than 4 would
// remain.
std::vector<double> WindowsForSamples(absl::Span<const double> floor_bytes,
                                      double sample_count);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_LEAK_PROBABILITY_H_
