// Holds the limits that a token sets to its bearer's trials, and their share of
// the processors.
//
//   SubmitterLimits limits;
//   limits.most_budget_bytes = 1 << 30;
//
// A value type: copies are independent. Memory: 32 bytes.

#ifndef FOOTPRINT_GATES_STORE_SUBMITTER_LIMITS_H_
#define FOOTPRINT_GATES_STORE_SUBMITTER_LIMITS_H_

#include <cstdint>

namespace footprint {

// The largest limits of undecided trials and of seconds that a person may set.
inline constexpr int64_t kMostUndecidedLimit = 10000000;
inline constexpr int64_t kMostSecondsLimit = 86400;

// 0 stands for no limit.
struct SubmitterLimits {
  // The largest budget that a bundle may ask for.
  int64_t most_budget_bytes = 0;
  // The longest time of a run.
  int64_t most_seconds = 0;
  // The number of the submitter's trials without a verdict.
  int64_t most_undecided = 0;
  // The share of the processors that each of the submitter's running trials
  // gets while others want them, too, from 1 to 10000; 0: 100.
  int64_t cpu_weight = 0;
};

}  // namespace footprint

// Tested by trial_store_test.

#endif  // FOOTPRINT_GATES_STORE_SUBMITTER_LIMITS_H_
