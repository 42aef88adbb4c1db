// A trial's run under the profiler: the agent beside the program, and what it
// recorded, read by a confined process, as an explanation.
//
//   ProfiledRun profiled("/var/trials/17/profiler", /*is_exact=*/false);
//   absl::Status status = profiled.Prepare(&sandbox_run);
//   ...                                   // run it
//   profiled.Explain(root, trial_run, kReaderLimitBytes, &result);
//
// Records are the program's to forge: here they are only copied, regular files
// alone, up to a size; confined_reader.h has who reads them. No acceptance
// rests on them alone (heap_evidence.h). Makes its folder, which must live as
// long as the run; the caller removes it. Thread-compatible. Memory: 64 KiB and
// the explanation.

#ifndef FOOTPRINT_GATES_TRIALS_PROFILED_RUN_H_
#define FOOTPRINT_GATES_TRIALS_PROFILED_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/gates/sandbox/sandbox.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

class ProfiledRun {
 public:
  // Exact: each allocation is recorded, which takes several times as long; else
  // the sites are those of a sample.
  ProfiledRun(std::string folder, bool is_exact);

  // Changes `run`, which must not outlive this. FileError's.
  absl::Status Prepare(SandboxRun* run);

  // Adds the profile, the heap's peak, its stage and sites, where there are
  // any; or why they cannot be had. Who reads them has `limit_bytes`.
  void Explain(const SandboxRoot& root, const TrialRun& run,
               int64_t limit_bytes, TrialResult* result) const;

 private:
  std::string folder_;
  bool is_exact_;
  std::string bundle_folder_;
  std::vector<std::string> arguments_;
};

// The profile that thresholds judge: the program's, whose resident peak is the
// whole-process peak as seen from outside. No figure of one run is EXACT.
MemoryProfile ProfileToJudge(const TrialResult& result);

}  // namespace footprint

// Tested by run_trial_test.

#endif  // FOOTPRINT_GATES_TRIALS_PROFILED_RUN_H_
