// Collects the outcomes of planted regressions, and writes them as text.
//
//   SelftestResult result;
//   result.trials.push_back(JudgeTrial(planned, run, input, options));
//   Print(WriteSelftestText(result));
//   return result.IsPassed() ? 0 : 1;
//
// Thread-safe; TakeImage changes its argument, and the other functions are
// pure. A result owns copies. Memory: about 1 KiB for each trial. Time:
// JudgeTrial takes as long as Evaluate for the whole suite.

#ifndef FOOTPRINT_GATES_REGRESSIONS_SELFTEST_RESULT_H_
#define FOOTPRINT_GATES_REGRESSIONS_SELFTEST_RESULT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/regressions/producer_run.h"
#include "footprint/gates/regressions/regression_plan.h"

namespace footprint {

enum class TrialEnd {
  kCaught,      // any decision but ACCEPT
  kMissed,      // accepted
  kNotPlanted,  // not in effect in every process, or not measured
};

struct RegressionTrial {
  PlannedRegression planned;
  TrialEnd end = TrialEnd::kNotPlanted;
  Decision decision = ACCEPT;
  // The rules that reject, each once; may be empty if the decision is not
  // REJECT.
  std::vector<RuleKind> rules;
  // The measured value of the figure, less its value before; 0 if it was not
  // measured.
  int64_t measured_growth = 0;
  std::string why;  // the reason for kNotPlanted
};

// A benchmark that could not be tried at all, with the reason. The text always
// lists it.
struct UntriedBenchmark {
  std::string label;
  std::string benchmark;
  std::string why;
};

struct SelftestResult {
  size_t asked_count = 0;
  std::vector<RegressionTrial> trials;
  std::vector<UntriedBenchmark> untried;
  // Deployments that are judged, but into which nothing can be planted.
  std::vector<std::string> uncovered;

  size_t Count(TrialEnd end) const;
  // Returns whether at least 99 % were caught, and all requested regressions
  // were planted.
  bool IsPassed() const;
};

// Returns the benchmark in the profiles, or null if none has it.
const BenchmarkMemory* FindBenchmark(const std::vector<MemoryProfile>& profiles,
                                     const std::string& label,
                                     const std::string& name);

// Sets the size of the program's image, which the planting heap enlarges, to
// that of `base`, the same benchmark.
void TakeImage(const BenchmarkMemory& base, BenchmarkMemory* measured);

// Judges a run. `base` must be accepted; the run's benchmarks replace those of
// `base`.
RegressionTrial JudgeTrial(const PlannedRegression& planned,
                           const PlantedRun& run, const GateInput& base,
                           const EvaluationOptions& options);

// Returns tables by sort and by deployment, then the missed regressions, in 80
// columns.
std::string WriteSelftestText(const SelftestResult& result);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REGRESSIONS_SELFTEST_RESULT_H_
