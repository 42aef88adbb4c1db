// Input of a gate, read from the files that its manifest names.
//
//   GateInput input = ReadGateInput("gates/check.manifest");
//   Verdict verdict = Judge(input, options);
//
// A manifest is written by gates/defs.bzl: a line a file, fields separated by
// tabs:
//
//   profile <path> <label>
//   whole_process <path> <label>
//   thresholds <path>
//   samples <path> <label>
//
// A whole process is that of the profile above it, and becomes a benchmark of
// it (whole_process.h). Unless all are wanted, samples are read only if a
// threshold has a rule over them.
//
// Never fails: a file that cannot be read is a problem of the verdict. A
// profile that is empty, cut short or damaged is its producer's fault; a
// missing or foreign one, one of another label than the manifest's, of a newer
// schema or of an older Footprint is a mistake in the configuration.
//
// Thread-safe; the result owns all that was read. Memory: all profiles and
// thresholds. Time: linear.

#ifndef FOOTPRINT_GATES_JUDGE_GATE_INPUT_H_
#define FOOTPRINT_GATES_JUDGE_GATE_INPUT_H_

#include <string>
#include <vector>

#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct GateInput {
  std::vector<MemoryProfile> profiles;
  std::vector<ThresholdSource> thresholds;
  std::vector<MemorySamples> samples;
  // BAD_CONFIGURATION: of the manifest and of files that cannot be read.
  std::vector<Problem> problems;
};

enum class SamplesToRead { kThoseOfRules, kAll };

GateInput ReadGateInput(const std::string& manifest_path,
                        SamplesToRead wanted = SamplesToRead::kThoseOfRules);

// `Evaluate`, unless something could not be read: then that alone is said.
Verdict Judge(const GateInput& input, const EvaluationOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_GATE_INPUT_H_
