// The probability that a place in a program leaks, which means that it grows on
// and on.
//
//   // Bytes that were live there at least, in windows of equal length.
//   const double floors[] = {10, 20, 31, 40, 50, 62, 70, 80, 91, 100};
//   LeakProbability(floors);  // 0.87
//
// A leak lifts the least that is live in each window above that of the window
// before it; memory that is freed in the end does not, however much there is.
// Each window after the first is a rise or none, and one of three laws made
// them, each as likely as the others beforehand:
//
//   grows    each is a rise with a probability above 3/4, the same for all
//   stays    the same, with one below 3/4: ups and downs make one of 1/2
//   bounded  first the one, then the other, from any window on: a cache that
//            was filled, data that was loaded
//
// Nothing else is known of a probability (it is uniform). By Bayes's rule, the
// chance of the first law given the windows is the result. It is at most 0.96,
// as 23 rises are the most that can be seen: that they went on for as long as
// anyone looked does not say that they would go on.
//
// Memory that a program keeps by intention and never stops adding to is no
// different from a leak by its allocations, and is found as well.
//
// Source: Laplace's rule of succession (1774), with the change point of
// A. F. M. Smith (1975). Scalene's score, 1 - (frees + 1) / (allocations -
// frees + 2) of one block at each new peak (E. Berger et al., OSDI 2023), takes
// no notice of when something grew: data that is loaded once gets as much as a
// leak, and a leak of one block in ten gets nothing.
//
// Pure; thread-safe.

#ifndef FOOTPRINT_PROFILING_RUNS_LEAK_PROBABILITY_H_
#define FOOTPRINT_PROFILING_RUNS_LEAK_PROBABILITY_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

// The sentence that every list of suspected leaks says beside it.
inline constexpr absl::string_view kLeakCaveat =
    "A list or a cache that is kept on purpose and filled until the program "
    "ends looks like a leak.";

// 0: nothing can be said, or what was there is gone (below nine tenths of the
// highest floor), or it has nearly stopped: in the last third it grew less than
// half as fast as on the whole. The law of a bound does not see the last by
// itself where a full cache's contents change in size, as it knows a rise from
// none and not how high it was.
double LeakProbability(absl::Span<const double> floor_bytes);

// Fewer windows, of equal length, so that each has 4 of the `sample_count`
// samples that the growth is known by: fewer might be missed by chance, which
// would look like a pause. Those at the start are left out where windows are
// left over. Empty: there are too few samples for 4 windows.
std::vector<double> WindowsForSamples(absl::Span<const double> floor_bytes,
                                      double sample_count);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_LEAK_PROBABILITY_H_
