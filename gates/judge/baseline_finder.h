// Finds the one measurement that a threshold compares with.
//
//   BaselineFinder finder(index);
//   const Measurement baseline =
//       finder.Find(selector, threshold, "t.textproto:12", &verdict);
//   if (baseline.metric == nullptr) ...  // the verdict says why
//
// Keeps the index, which must outlive it. Thread-compatible.

#ifndef FOOTPRINT_GATES_JUDGE_BASELINE_FINDER_H_
#define FOOTPRINT_GATES_JUDGE_BASELINE_FINDER_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"

namespace footprint {

class BaselineFinder {
 public:
  explicit BaselineFinder(const MeasurementIndex& index) : index_(index) {}

  // Returns the measurement that `selector` names for the threshold's metric,
  // which has a value above zero. Returns one without a metric if there is
  // none, and adds a problem unless one says why already. `location`: where the
  // threshold stands.
  Measurement Find(const Selector& selector, const Threshold& threshold,
                   const std::string& location, Verdict* verdict);

 private:
  const MeasurementIndex& index_;
  // A selector that names many measurements has one baseline all the same.
  std::string last_bad_location_;
};

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_BASELINE_FINDER_H_
