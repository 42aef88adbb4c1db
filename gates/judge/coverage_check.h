// Finds the benchmarks whose memory no threshold limits.
//
//   CoverageCheck check(profiles, index);
//   check.NoteRule(threshold, location, benchmark, found);
//   check.CheckForks(&verdict);
//   check.CheckEveryBenchmarkIsJudged(command, mismatched, &verdict);
//
// Keeps references to the profiles and the index, which must outlive it.
// Thread-compatible. Memory: 6 bytes a benchmark, 24 bytes a profile, about 64
// bytes for each measurement that a blocking rule limits from above, and the
// texts of each rule over a median.

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

  // Notes the measurements of the benchmark that a threshold names, which may
  // be none. `location` is the threshold's file and line.
  void NoteRule(const Threshold& threshold, const std::string& location,
                const BenchmarkKey& benchmark,
                const std::vector<Measurement>& found);

  // Notes that a benchmark needs no limit.
  void NoteExemption(const BenchmarkKey& benchmark);

  // Notes that a rule judged a figure of the benchmark, or compared with it.
  void NoteJudged(const Measurement& found, bool is_blocking);

  // Adds a problem for each judged benchmark that started child processes,
  // because its figures do not include their memory.
  void CheckForks(Verdict* verdict) const;

  // Adds a problem for each blocking rule over the median of runs without a
  // blocking limit of the same figure: alone it would accept that some runs
  // need any amount.
  void CheckMedians(Verdict* verdict) const;

  // Adds a problem for each benchmark whose peak no blocking rule limits. The
  // benchmarks in `mismatched` are skipped: they have a problem already.
  void CheckEveryBenchmarkIsJudged(const UpdateCommand& command,
                                   const std::set<BenchmarkKey>& mismatched,
                                   Verdict* verdict) const;

  // Adds a problem for each program whose own figures account for less than
  // half of the anonymous memory that was measured from outside, unless a
  // blocking rule with a reason limits the rest.
  void CheckProgramsTellEnough(Verdict* verdict) const;

 private:
  struct State {
    bool is_named = false;        // a rule for its environment names it
    bool is_limited = false;      // a blocking rule limits its whole peak
    bool is_exempt = false;       // it needs no such rule
    bool is_rest_judged = false;  // a rule limits what it leaves out
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
  std::set<MeasurementKey> limited_;  // limited from above by blocking rules
};

}  // namespace footprint

// Tested by evaluate_test.

#endif  // FOOTPRINT_GATES_JUDGE_COVERAGE_CHECK_H_
