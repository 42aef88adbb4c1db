// Reads the input of a gate from the files that its manifest names.
//
//   GateInput input = ReadGateInput("gates/check.manifest");
//   Verdict verdict = Judge(input, options);
//
// gates/defs.bzl writes the manifest: one line for each file, with its fields
// separated by tabs:
//
//   profile <path> <label>
//   whole_process <path> <label>
//   thresholds <path>
//   samples <path> <label>
//
// A `whole_process` belongs to the profile above it, and becomes a benchmark of
// that profile (whole_process.h). It is ignored if that profile could not be
// read. With SamplesToRead::kThoseOfRules, samples are read only if a threshold
// has a rule over samples.
//
// Never fails: a file that cannot be read is a problem of the verdict. A
// profile that is empty, cut short or damaged is its producer's fault; a
// profile that is missing, has another format, has another label than the
// manifest says, or was written with a newer schema or an older Footprint is a
// mistake in the configuration. So are samples that are given twice, and any
// fault of a whole process.
//
// Thread-safe; the result owns all that was read. Memory: all files that were
// read. Time: linear in their size.

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
  // Problems of the manifest, and of files that cannot be read.
  std::vector<Problem> problems;
};

enum class SamplesToRead { kThoseOfRules, kAll };

// Reads all files of the manifest. The problems of files that cannot be read
// are in `problems`.
GateInput ReadGateInput(const std::string& manifest_path,
                        SamplesToRead wanted = SamplesToRead::kThoseOfRules);

// Returns the verdict of `Evaluate` on the input, whose samples replace those
// of the options. If something could not be read, returns BAD_CONFIGURATION
// with only the problems of reading and those of the threshold files.
Verdict Judge(const GateInput& input, const EvaluationOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_GATE_INPUT_H_
