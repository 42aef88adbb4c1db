// Runs a trial's program under the profiler: loads the agent into the program,
// and has a confined process turn the records into an explanation.
//
//   ProfiledRun profiled("/var/trials/17/profiler", /*is_exact=*/false);
//   absl::Status status = profiled.Prepare(&sandbox_run);
//   ...                                   // run it
//   profiled.Explain(root, trial_run, kReaderLimitBytes, &result);
//
// A program can forge its records. Here they are only copied: at most 4,000
// regular files of at most 1 GiB each, and 256 MiB of data in all.
// confined_reader.h reads them. No acceptance rests on them alone
// (heap_evidence.h). Creates its folder, which must exist until the run is
// explained; the caller removes it. Thread-compatible. Memory: 64 KiB and the
// explanation.

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
  // If `is_exact`, each allocation is recorded, which makes the run several
  // times as long; otherwise the sites are from a sample.
  ProfiledRun(std::string folder, bool is_exact);

  // Changes `run` so that it loads the agent. `run` owns copies of its texts,
  // so only the folder must exist until it has run. Errors: FileError's.
  absl::Status Prepare(SandboxRun* run);

  // Adds the profile and the heap's peak with its stage and sites to the
  // result, if there are records, or the reason why they could not be read. The
  // reader gets `limit_bytes` of memory.
  void Explain(const SandboxRoot& root, const TrialRun& run,
               int64_t limit_bytes, TrialResult* result) const;

 private:
  std::string folder_;
  bool is_exact_;
  std::string bundle_folder_;
  bool is_image_ = false;
  std::vector<std::string> arguments_;
};

// Returns the profile that thresholds judge: the recorded one, with the
// whole-process peak that was measured from outside as its resident peak. All
// its figures are STATISTICAL. If nothing was recorded, it has one benchmark
// with the name of the bundle's entry.
MemoryProfile ProfileToJudge(const TrialResult& result);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_PROFILED_RUN_H_
