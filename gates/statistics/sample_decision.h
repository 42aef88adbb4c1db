// Defines the schedule of looks at samples, and the decision of each look.
//
// Runs are added up to the sizes of kSampleSchedule until a rule is decided.
// Each look uses a part of the error probability that a rule allows, so that
// all looks together keep within it.
//
//   const int64_t more = RunsToNextLook(9);  // 21: the next look is at 30
//
// Pure functions and plain values; thread-safe.

#ifndef FOOTPRINT_GATES_STATISTICS_SAMPLE_DECISION_H_
#define FOOTPRINT_GATES_STATISTICS_SAMPLE_DECISION_H_

#include <cstdint>
#include <string>

namespace footprint {

inline constexpr int64_t kSampleSchedule[] = {9, 30, 59};

// The largest share of samples that keep their rule and yet are rejected, over
// all looks.
inline constexpr double kFalseAlarmShare = 0.001;

struct SampleDecision {
  enum Kind { kAccept, kReject, kInconclusive };
  Kind kind = kInconclusive;
  // The reason, with numbers. If the decision is kInconclusive, it also says
  // what would decide.
  std::string reason;
  // Number of further runs that might decide, at least 1, if the decision is
  // kInconclusive.
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
