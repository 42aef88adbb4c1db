// Reports selectors that name nothing, or less than they should.
//
//   SelectorProblems problems(profiles, index, is_complete, &verdict);
//   problems.AddUnknownLabel(source, location, selector.label());
//
// Keeps references to its arguments, which must outlive it. Thread-compatible.
// Time: a suggestion ("did you mean") compares a name with every other; only
// the first twenty problems get one.

#ifndef FOOTPRINT_GATES_JUDGE_SELECTOR_PROBLEMS_H_
#define FOOTPRINT_GATES_JUDGE_SELECTOR_PROBLEMS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

class SelectorProblems {
 public:
  // `is_complete`: the profiles include every program that the files have
  // thresholds for.
  SelectorProblems(absl::Span<const MemoryProfile> profiles,
                   const MeasurementIndex& index, bool is_complete,
                   Verdict* verdict)
      : profiles_(profiles),
        index_(index),
        is_complete_(is_complete),
        verdict_(verdict) {}

  // Adds a problem for a label that no profile has. Adds none if the file is
  // shared and the profiles are not complete: then another gate may measure the
  // label.
  void AddUnknownLabel(const ThresholdSource& source,
                       const std::string& location, const std::string& label);

  // Adds a problem for a shared file if no profile has one of its labels, which
  // the caller has checked. Adds none if the profiles are complete or the file
  // is not shared: then AddUnknownLabel reports the labels one by one.
  void AddUnusedFile(const ThresholdSource& source);

  // Adds a problem if the threshold has a benchmark_count that is not
  // `named_count`. Adds none if other gates may measure the rest: the file is
  // shared, the profiles are not complete, and the label has a star. A selector
  // with a star still matches after one of its benchmarks is gone, so only the
  // count shows that.
  void CheckCount(const ThresholdSource& source, int number, int named_count);

  // Adds a problem for a threshold that names nothing in the profiles of its
  // label.
  void AddUnmatched(const ThresholdSource& source, int number,
                    const std::vector<int>& labelled);

  // Adds a problem for benchmarks that a threshold names but that lack a phase
  // or metric that it judges. `lost` must not be empty. Without the problem it
  // would seem to judge them as it judges the others.
  void AddLost(const ThresholdSource& source, int number,
               const std::vector<Measurement>& lost);

  // Adds a problem for an exemption that names no benchmark.
  void AddIdleExemption(const ThresholdSource& source, int number);

 private:
  std::string Suggest(const std::string& name,
                      const std::vector<std::string>& known);
  std::string ExplainMissing(const Threshold& threshold,
                             const std::vector<std::string>& phases,
                             const std::vector<std::string>& metrics);
  std::string ExplainUnmatched(const Threshold& threshold,
                               const std::vector<int>& labelled);

  const absl::Span<const MemoryProfile> profiles_;
  const MeasurementIndex& index_;
  const bool is_complete_;
  Verdict* const verdict_;
  int suggestion_count_ = 0;
};

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_SELECTOR_PROBLEMS_H_
