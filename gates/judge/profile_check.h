// Checks that profiles can be judged at all, without regard to thresholds.
//
//   CheckProfiles(profiles, index, &verdict);
//   CheckProcessesEnded(profiles, &verdict);
//
// Changes only the verdict; thread-compatible. Time: linear in the benchmarks.

#ifndef FOOTPRINT_GATES_JUDGE_PROFILE_CHECK_H_
#define FOOTPRINT_GATES_JUDGE_PROFILE_CHECK_H_

#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Adds a problem if there is no profile, for each profile that its producer
// could not measure or did not measure often enough, and for each benchmark
// that is measured twice. Copies the producers' remarks into the verdict.
void CheckProfiles(absl::Span<const MemoryProfile> profiles,
                   const MeasurementIndex& index, Verdict* verdict);

// Adds a problem for each program that left processes running when it ended,
// because their memory is not known.
void CheckProcessesEnded(absl::Span<const MemoryProfile> profiles,
                         Verdict* verdict);

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_PROFILE_CHECK_H_
