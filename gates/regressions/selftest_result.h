// Outcomes of planted regressions, and the text that tells them.
//
//   SelftestResult result;
//   result.trials.push_back(JudgeTrial(planned, run, input, options));
//   Print(WriteSelftestText(result));
//   return result.IsPassed() ? 0 : 1;
//
// Pure functions, thread-safe; a result owns copies. Memory: about a kibibyte a
// trial. Time: JudgeTrial's is that of Evaluate over the whole suite.

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
  kCaught,
  kMissed,      // accepted
  kNotPlanted,  // no trial: not in effect in every process, or not measured
};

struct RegressionTrial {
  PlannedRegression planned;
  TrialEnd end = TrialEnd::kNotPlanted;
  Decision decision = ACCEPT;
  // The rules that reject, each once; empty if the decision is another.
  std::vector<RuleKind> rules;
  // Value that was measured of the figure, less its value before; 0 if it is
  // not there.
  int64_t measured_growth = 0;
  std::string why;  // of kNotPlanted
};

// A benchmark that could not be tried at all, with the reason: said, never
// passed over.
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
  // Returns whether at least 99 % were caught, and each of those asked for was
  // tried.
  bool IsPassed() const;
};

// Returns null if none of the profiles has it; points into them.
const BenchmarkMemory* FindBenchmark(const std::vector<MemoryProfile>& profiles,
                                     const std::string& label,
                                     const std::string& name);

// Sets the size of the program's image, which the heap that plants enlarges, to
// what `base` has: of the same benchmark.
void TakeImage(const BenchmarkMemory& base, BenchmarkMemory* measured);

// `base` was accepted; the run's benchmarks take the places of its own.
RegressionTrial JudgeTrial(const PlannedRegression& planned,
                           const PlantedRun& run, const GateInput& base,
                           const EvaluationOptions& options);

// Tables by sort and by deployment, then what was missed; 80 columns.
std::string WriteSelftestText(const SelftestResult& result);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REGRESSIONS_SELFTEST_RESULT_H_
