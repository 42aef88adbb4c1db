// The schedule of looks at samples, and the decision of each look.
//
// Runs are added up to the sizes of kSampleSchedule until a rule is decided.
// Each look spends a part of the errors that a rule may make, so that all looks
// together keep them.
//
//   const int64_t more = RunsToNextLook(9);  // 21: the next look is at 30
//
// Pure functions and plain values; thread-safe. Take no memory.

#ifndef FOOTPRINT_GATES_STATISTICS_SAMPLE_DECISION_H_
#define FOOTPRINT_GATES_STATISTICS_SAMPLE_DECISION_H_

#include <cstdint>
#include <string>

namespace footprint {

inline constexpr int64_t kSampleSchedule[] = {9, 30, 59};

// The share of samples within their rule that are rejected, over all looks.
inline constexpr double kFalseAlarmShare = 0.001;

struct SampleDecision {
  enum Kind { kAccept, kReject, kInconclusive };
  Kind kind = kInconclusive;
  // The reason has numbers; where it is inconclusive, it also says what would
  // decide.
  std::string reason;
  // So many more runs might decide what is inconclusive, at least 1.
  int64_t more_runs = 0;
};

// Returns how many runs to add to `run_count` before the next look, or 0 if
// there is none.
inline int64_t RunsToNextLook(int64_t run_count) {
  for (int64_t look : kSampleSchedule) {
    if (run_count < look) return look - run_count;
  }
  return 0;
}

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_SAMPLE_DECISION_H_
