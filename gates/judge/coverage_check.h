// Finds the benchmarks that the thresholds leave free to need any amount.
//
//   CoverageCheck check(profiles, index);
//   check.NoteRule(threshold, location, found_of_one_benchmark);
//   check.CheckForks(&verdict);
//   check.CheckEveryBenchmarkIsJudged(command, mismatched, &verdict);
//
// Keeps the profiles and the index, which must outlive it. Thread-compatible.
// Memory: 8 bytes a benchmark, and some 100 a measurement with a rule over
// samples.

#ifndef FOOTPRINT_GATES_JUDGE_COVERAGE_CHECK_H_
#define FOOTPRINT_GATES_JUDGE_COVERAGE_CHECK_H_

#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "footprint/gates/judge/environment_check.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/measurement_index.h"
#include "footprint/gates/judge/update_command.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

class CoverageCheck {
 public:
  CoverageCheck(absl::Span<const MemoryProfile> profiles,
                const MeasurementIndex& index);

  // Notes what a threshold that may judge the benchmark names in it, which may
  // be nothing. `location`: where it stands.
  void NoteRule(const Threshold& threshold, const std::string& location,
                const BenchmarkKey& benchmark,
                const std::vector<Measurement>& found);

  // Notes that a benchmark needs no limit.
  void NoteExemption(const BenchmarkKey& benchmark);

  // Notes that a rule looked at the figures of a benchmark.
  void NoteJudged(const Measurement& found, bool is_blocking);

  // Adds a problem for each benchmark that started processes and was judged:
  // its children are not in its figures.
  void CheckForks(Verdict* verdict) const;

  // Adds a problem for each rule over the median of runs that no limit of the
  // highest stands beside: it would accept that some runs need any amount.
  void CheckMedians(Verdict* verdict) const;

  // Adds a problem for each benchmark of which no rule that blocks limits the
  // peak. `mismatched`: benchmarks of which is said why.
  void CheckEveryBenchmarkIsJudged(const UpdateCommand& command,
                                   const std::set<BenchmarkKey>& mismatched,
                                   Verdict* verdict) const;

  // Adds a problem for each program whose own figures leave out most of what
  // was seen from outside, unless a rule judges the rest.
  void CheckProgramsTellEnough(Verdict* verdict) const;

 private:
  struct State {
    bool is_named = false;        // by a rule that is for its environment
    bool is_limited = false;      // by a rule that limits its whole peak
    bool is_exempt = false;       // from the need of such a rule
    bool is_rest_judged = false;  // by a rule for what it does not tell of
    bool is_judged = false;
    bool is_judged_to_block = false;
  };
  struct Median {
    MeasurementKey key;
    std::string location;
    std::string message;
  };

  State& StateAt(const BenchmarkKey& benchmark) {
    return states_[static_cast<size_t>(benchmark.first)]
                  [static_cast<size_t>(benchmark.second)];
  }
  void NoteHighest(const Threshold& threshold, const std::string& location,
                   const Measurement& found);

  const absl::Span<const MemoryProfile> profiles_;
  const MeasurementIndex& index_;
  std::vector<std::vector<State>> states_;  // by profile and benchmark
  std::vector<Median> medians_;
  std::set<MeasurementKey> limited_;  // by rules that block, from above
};

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_COVERAGE_CHECK_H_
