// Computes the maximum that leaves a stated headroom over a measurement.
//
//   Headroom headroom;
//   headroom.set_percent(10);
//   ComputeMaximum(headroom, PEAK_LIVE_USABLE_BYTES, 1000);  // 1100
//
// Pure functions, thread-safe; they allocate nothing.

#ifndef FOOTPRINT_GATES_JUDGE_HEADROOM_H_
#define FOOTPRINT_GATES_JUDGE_HEADROOM_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns the sum of `measured` and the headroom, as AddUpToLargest adds them;
// nullopt if the policy sets no maximum for this kind of metric.
absl::optional<int64_t> ComputeMaximum(const Headroom& headroom,
                                       MetricKind metric, int64_t measured);

// Returns the sum, or the largest int64 less 1 if the sum overflows.
int64_t AddUpToLargest(int64_t value, int64_t more);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_HEADROOM_H_
