// Judges measured memory by its thresholds. The verdict has the decision, every
// judgement behind it, and every reason for which a rule could not be judged.
//
//   EvaluationOptions options;
//   options.update_target = "//gates:update";
//   Verdict verdict = Evaluate(profiles, thresholds, options);
//   return verdict.decision();  // the exit code
//
// A rule is held against every measurement that its selector names. Nothing is
// skipped in silence:
// * BAD_CONFIGURATION: a threshold file has a problem; a benchmark or a whole
//   process whose peak no blocking rule limits (peak_limit.h), unless it is
//   exempt; a selector that names another number of benchmarks than its
//   threshold counts; a threshold that names nothing, or a benchmark without
//   the phase or the metric that it is to judge; arguments that make no scaling
//   law; a regression rule without a limit of the highest runs; a label that no
//   profile has, unless the file is shared; two rules of one sort for one
//   measurement; one exact value for a metric that is not EXACT; a benchmark
//   measured twice; a ratio whose baseline is missing, ambiguous or not above
//   zero; a program that tells of too little of the memory that was seen from
//   outside (whole_process.h), unless a threshold that blocks limits the rest
//   and gives a reason;
// * PRODUCER_FAILED: a profile records why there is no measurement;
// * ENVIRONMENT_MISMATCH: thresholds of other environments judge the benchmark
//   there, and none of the profile's own environment judges it here;
// * INCONCLUSIVE: a blocking rule on a metric that did not repeat, or on a
//   benchmark that forked; a program of which processes still ran when it had
//   ended; a profile of fewer than three processes, unless it
//   is imported, when no figure of it is EXACT; samples that do not decide a
//   rule over samples, and benchmarks that show no law.
// If a threshold file has a problem, nothing is judged: a rule may be missing.
//
// Pure function, thread-safe, never fails; the verdict copies what it names.
// Memory: about 600 bytes a judgement, plus the index (measurement_index.h).
// Time: 100,000 judgements in about 0.2 s where selectors have no '*'
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
  // Target that `bazel run` runs in commands for the reader.
  std::string update_target = "//gates:update";
  // The profiles are all that the files have thresholds for, so a label that
  // names none of them is a problem in shared files too.
  bool is_complete = false;
  // Figures that varied, for rules over samples: any number of files of a
  // label, whose values are one sample. They must outlive the call.
  absl::Span<const MemorySamples> samples;
};

Verdict Evaluate(absl::Span<const MemoryProfile> profiles,
                 absl::Span<const ThresholdSource> thresholds,
                 const EvaluationOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_EVALUATE_H_
