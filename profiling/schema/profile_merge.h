// Merges the figures of several fresh processes into one measurement: figures
// that repeated bit for bit are EXACT, the others are samples.
//
//   std::vector<MemoryMeasurement> processes = ...;  // 3 times
//   absl::StatusOr<MemoryMeasurement> merged = MergeProfiles(processes);
//
// A metric of a benchmark or a phase is EXACT if every producer called it EXACT
// and all values are equal. If a producer called it STATISTICAL, it becomes
// only a sample. Otherwise its kind is also listed in `unrepeated`, and in
// `order_dependent` if a producer called it BOUNDED, even if its values are the
// same. With two threads that may overlap, such a PEAK_LIVE beside an EXACT
// SUM_THREAD_PEAK is usual.
//
// The profile of a program that is measured as it is can keep figures that
// vary, for limits: Unrepeated::kKeepHighest.
//
// Pure: the caller owns files and processes, and the result owns copies.
// Thread-safe. Memory and time: linear in the input.

#ifndef FOOTPRINT_PROFILING_SCHEMA_PROFILE_MERGE_H_
#define FOOTPRINT_PROFILING_SCHEMA_PROFILE_MERGE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Fewer processes show little about whether figures repeat.
inline constexpr int kMinimumProcessCount = 3;

// The output of one process, or the merged output of several. `samples` may be
// empty; it has one value per process.
struct MemoryMeasurement {
  MemoryProfile profile;
  MemorySamples samples;
};

// What happens to a metric that is not EXACT.
enum class Unrepeated {
  kLeaveOut,  // Only its samples stay.
  // The profile also keeps the highest value: as BOUNDED if a producer called
  // it so and it repeated, otherwise as STATISTICAL.
  kKeepHighest,
};

// Returns the benchmarks of `processes`, with each metric classified by its
// values. The attribution of a peak stays if it is the same in all processes
// and the peak is EXACT.
//
// Returns kInvalidArgument for fewer than kMinimumProcessCount processes, or if
// one of them is a failure record. Returns kFailedPrecondition if the processes
// did different work: another label or environment; another order of benchmarks
// or phases; a benchmark, phase, argument or metric that only some have;
// another number of child processes; other remarks; or other sampled metrics.
// The message names the process, the benchmark and both values, and nothing
// else, so equal differences give equal messages.
absl::StatusOr<MemoryMeasurement> MergeProfiles(
    const std::vector<MemoryMeasurement>& processes,
    Unrepeated unrepeated = Unrepeated::kLeaveOut);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_PROFILE_MERGE_H_
