// Says why a selector names nothing, or less than it should.
//
//   SelectorProblems problems(profiles, index, is_complete, &verdict);
//   problems.AddUnknownLabel(source, location, selector.label());
//
// Keeps what it is given, which must outlive it. Thread-compatible. Time: a
// suggestion compares a name with every other; after twenty of them none is
// looked for.

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
  // `is_complete`: the profiles are all that the files have thresholds for.
  SelectorProblems(absl::Span<const MemoryProfile> profiles,
                   const MeasurementIndex& index, bool is_complete,
                   Verdict* verdict)
      : profiles_(profiles),
        index_(index),
        is_complete_(is_complete),
        verdict_(verdict) {}

  // Adds a problem for a label that no profile has, unless the file may be
  // shared with other gates.
  void AddUnknownLabel(const ThresholdSource& source,
                       const std::string& location, const std::string& label);

  // Adds a problem for a shared file of which no label is known here. Labels of
  // a file that is not shared are named one by one.
  void AddUnusedFile(const ThresholdSource& source);

  // Adds a problem if the threshold states another number of benchmarks than it
  // names: a benchmark that is gone is missed by no selector with a star.
  void CheckCount(const ThresholdSource& source, int number, int named_count);

  // Adds a problem for a threshold that names nothing in the profiles of its
  // label.
  void AddUnmatched(const ThresholdSource& source, int number,
                    const std::vector<int>& labelled);

  // Adds a problem for benchmarks that a threshold names without finding all
  // that it is to judge. It would seem to judge them, beside those where it
  // does.
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
