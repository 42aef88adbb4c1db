// Explains where a benchmark's figure grew: the phase, the lines that hold more
// at the peak, the new calls, and whether it is a leak.
//
//   for (const std::string& reason :
//        FindGrowthReasons(benchmark, PEAK_LIVE_USABLE_BYTES)) {
//     Show(reason);  // "phase read/parse +4.00 MiB"
//   }
//
// `benchmark` is a node of DiffProfiles (profile_diff.h). Pure functions,
// thread-safe. Memory: a few short lines.

#ifndef FOOTPRINT_GATES_EXPLAINING_GROWTH_REASONS_H_
#define FOOTPRINT_GATES_EXPLAINING_GROWTH_REASONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/gates/explaining/profile_diff.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns a few reasons, the most important first. The list is empty if only
// the figure itself is known.
std::vector<std::string> FindGrowthReasons(const DiffNode& benchmark,
                                           MetricKind metric);

// Returns whether a site is only a phase, not a line, layer or tensor. The
// reason for the phase already says the same.
bool IsPhaseAlone(const std::string& site);

// Returns "a leak (NET_GROWTH): 64 B more are live at its end than at its
// start", or "" if the figure is not a leak.
std::string DescribeLeak(MetricKind metric, int64_t net_growth);

// Returns a sentence on a figure of usable bytes that is less by so few bytes
// that the heap's layout may be the cause, or "" for other figures.
std::string DescribeSmallDecrease(MetricKind metric, int64_t decrease_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_GROWTH_REASONS_H_
