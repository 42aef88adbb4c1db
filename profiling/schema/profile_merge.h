// Merges the figures of several fresh processes into one measurement: figures
// that repeated bit for bit are EXACT, the others are samples.
//
//   std::vector<MemoryMeasurement> processes = ...;  // 3 times
//   absl::StatusOr<MemoryMeasurement> merged = MergeProfiles(processes);
//
// A metric of all that was measured or of a phase is EXACT if every producer
// called it so and all values are equal. If a producer called it STATISTICAL it
// only becomes a sample; otherwise its kind is listed in `unrepeated` too, and
// in `order_dependent` if a producer called it BOUNDED, though its values may
// have been the same. With two threads that may overlap, such a PEAK_LIVE
// beside an EXACT SUM_THREAD_PEAK is the ordinary case.
//
// The figures that vary can be kept for a program that is measured as it is,
// for limits: Unrepeated::kKeepHighest.
//
// Pure: files and processes are the caller's, and the result owns copies.
// Thread-safe. Memory and time:
// linear in the input.

#ifndef FOOTPRINT_PROFILING_SCHEMA_PROFILE_MERGE_H_
#define FOOTPRINT_PROFILING_SCHEMA_PROFILE_MERGE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Fewer processes that agree say little about repeating.
inline constexpr int kMinimumProcessCount = 3;

// The output of one process, or the whole output of several. `samples` may be
// empty; its values are one a process.
struct MemoryMeasurement {
  MemoryProfile profile;
  MemorySamples samples;
};

// The treatment of a metric that is not EXACT.
enum class Unrepeated {
  kLeaveOut,  // only its samples stay
  // The highest value stays in the profile, too: as BOUNDED if a producer
  // called it so and it repeated, else as STATISTICAL.
  kKeepHighest,
};

// The benchmarks of `processes`, with each metric under what its values showed.
// The attribution of a peak stays if it and the peak were the same everywhere.
//
// kInvalidArgument: fewer than kMinimumProcessCount processes, or one of them
// is a failure record. kFailedPrecondition: they did not do the same: another
// label or environment, a benchmark, phase, argument or metric that only some
// have, in another order, or another number of child processes. The message
// names the process, the benchmark and both values, and no more than what
// differs, so it is the same whenever the difference is.
absl::StatusOr<MemoryMeasurement> MergeProfiles(
    const std::vector<MemoryMeasurement>& processes,
    Unrepeated unrepeated = Unrepeated::kLeaveOut);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_PROFILE_MERGE_H_
