// Judges measured memory by its thresholds. The verdict has the decision, every
// judgement behind it, and the reason for each rule that could not be judged.
//
//   EvaluationOptions options;
//   options.update_target = "//gates:update";
//   Verdict verdict = Evaluate(profiles, thresholds, options);
//   return verdict.decision();  // the exit code
//
// A rule judges every measurement that its selector names. Nothing is skipped
// in silence:
// * BAD_CONFIGURATION: a threshold file has a problem; a benchmark or a whole
//   process whose peak no blocking rule limits (peak_limit.h), unless it is
//   exempt; a selector that does not name as many benchmarks as its threshold's
//   benchmark_count; a threshold that names nothing, or a benchmark without the
//   phase or the metric to judge; arguments that no scaling law can be fitted
//   to; a regression rule without a limit of the highest runs; a label that no
//   profile has, unless the file is shared and the profiles are not complete; a
//   shared file none of whose labels a profile has, unless they are complete;
//   an exemption that names nothing; a maximum that awaits its figure
//   (written_limit.h); two rules of the same sort for one measurement; an exact
//   value for a metric that is not EXACT; no profile at all; a benchmark
//   measured twice; a ratio whose baseline is missing, ambiguous or not above
//   zero; a program whose own figures account for too little of the memory that
//   was measured from outside (whole_process.h), unless a blocking threshold
//   limits the rest and gives a reason;
// * PRODUCER_FAILED: a profile records why there is no measurement, or has no
//   benchmark;
// * ENVIRONMENT_MISMATCH: thresholds for other environments judge the benchmark
//   there, but no threshold for the profile's environment judges it; or the
//   samples of one figure, or those of its baseline, are of several machines or
//   environments;
// * INCONCLUSIVE: a blocking rule on a metric that did not repeat, or on a
//   benchmark that forked; a program that left processes running when it ended;
//   a profile of fewer than three processes, unless it is imported (then none
//   of its figures is EXACT); too few samples to decide a rule; benchmarks that
//   follow no law.
// If a threshold file has a problem, nothing is judged, because a rule may be
// missing.
//
// Pure function, thread-safe, never fails; the verdict owns copies. Memory:
// about 600 bytes a judgement, plus the index (measurement_index.h). Time:
// 100,000 judgements in about 0.2 s if selectors have no '*'
// (evaluate_benchmark).

#ifndef FOOTPRINT_GATES_JUDGE_EVALUATE_H_
#define FOOTPRINT_GATES_JUDGE_EVALUATE_H_

#include <string>

#include "absl/types/span.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct EvaluationOptions {
  // The `bazel run` target in the commands that the verdict suggests.
  std::string update_target = "//gates:update";
  // True if the profiles include every program that the files have thresholds
  // for. Then a label that names no profile is a problem in shared files too.
  bool is_complete = false;
  // Figures that vary, for rules over samples. All files of one label together
  // are one sample.
  absl::Span<const MemorySamples> samples;
};

// Returns the verdict of all thresholds on all profiles.
Verdict Evaluate(absl::Span<const MemoryProfile> profiles,
                 absl::Span<const ThresholdSource> thresholds,
                 const EvaluationOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_EVALUATE_H_
