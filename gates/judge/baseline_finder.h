// Finds the one measurement that a threshold compares with.
//
//   BaselineFinder finder(index);
//   const Measurement baseline =
//       finder.Find(selector, threshold, "t.textproto:12", &verdict);
//   if (baseline.metric == nullptr) ...  // the verdict says why
//
// Keeps a reference to the index, which must outlive it. Thread-compatible.

#ifndef FOOTPRINT_GATES_JUDGE_BASELINE_FINDER_H_
#define FOOTPRINT_GATES_JUDGE_BASELINE_FINDER_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"

namespace footprint {

class BaselineFinder {
 public:
  explicit BaselineFinder(const MeasurementIndex& index) : index_(index) {}

  // Returns the one measurement that `selector` names for the threshold's
  // metric, if its value is above zero. Otherwise returns a measurement without
  // a metric and adds a problem, unless the profile records a failure or the
  // last problem was for this threshold. `location` is the threshold's file and
  // line.
  Measurement Find(const Selector& selector, const Threshold& threshold,
                   const std::string& location, Verdict* verdict);

 private:
  const MeasurementIndex& index_;
  // Location of the last threshold that got a problem. Its selector may name
  // many measurements, and one problem is enough.
  std::string last_bad_location_;
};

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_BASELINE_FINDER_H_
