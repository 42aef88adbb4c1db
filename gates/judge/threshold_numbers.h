// Reads the whole numbers that a threshold states: its maximum or exact value,
// and its minimum, in bytes or counts.
//
//   for (const NumberField& field : kNumberFields) {
//     if (field.IsIn(threshold)) Show(field.name, field.Get(threshold));
//   }
//   const ThresholdNumbers numbers = ReadNumbers(threshold);
//
// Pure functions, thread-safe. Only RatioText allocates.

#ifndef FOOTPRINT_GATES_JUDGE_THRESHOLD_NUMBERS_H_
#define FOOTPRINT_GATES_JUDGE_THRESHOLD_NUMBERS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {

// A field of Threshold that holds a whole number.
struct NumberField {
  const char* name;
  MetricUnit unit;
  RuleKind kind;  // MAXIMUM, EXACT_VALUE or MINIMUM
  bool (Threshold::*has)() const;
  int64_t (Threshold::*get)() const;
  void (Threshold::*set)(int64_t value);

  bool IsIn(const Threshold& threshold) const { return (threshold.*has)(); }
  int64_t Get(const Threshold& threshold) const { return (threshold.*get)(); }
  void Set(int64_t value, Threshold* threshold) const {
    (threshold->*set)(value);
  }
};

// The fields in the order of the schema: minima come last.
extern const std::array<NumberField, 6> kNumberFields;

// Returns the first field of this kind that the threshold has; null if it has
// none.
const NumberField* FindNumber(const Threshold& threshold, RuleKind kind);
// Returns the field of the threshold's maximum or exact value, of which it has
// at most one; null if it has none.
const NumberField* FindLimit(const Threshold& threshold);

struct ThresholdNumbers {
  absl::optional<int64_t> maximum;
  absl::optional<int64_t> exact;
  absl::optional<int64_t> minimum;

  absl::optional<int64_t> limit() const {
    return maximum.has_value() ? maximum : exact;
  }
};

// Returns the numbers of the threshold, in bytes or counts.
ThresholdNumbers ReadNumbers(const Threshold& threshold);

// Returns `ratio` x `baseline` as a limit, rounded down. A product that differs
// from an integer only by the rounding of binary fractions gives that integer:
// 0.3 x 10 is 3. Returns at most the largest int64.
int64_t RatioLimit(double ratio, int64_t baseline);

// Returns the number with 6 significant digits if that text reads back as the
// same number, else with 17.
std::string RatioText(double ratio);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_THRESHOLD_NUMBERS_H_
