// Reads the records of a program that may be hostile in a process with its own
// sandbox, memory limit and time limit, where a fault of the reader does no
// harm. It returns only a checked TrialExplanation.
//
//   RecordsToRead records;
//   records.run.folder = "/var/trials/17/profiler/records";
//   records.run.arguments = {"train", "--rows=1000"};
//   records.work_folder = "/var/trials/17/profiler";
//   records.bundle_folder = "/var/trials/17/bundle";
//   absl::StatusOr<TrialExplanation> explanation =
//       ReadRecordsConfined(root, records, EmbeddedRecordReader());
//
// The reader sees the records, the bundle and the host's /usr, all read-only,
// and no network. Writes the reader's program to "record_reader" in
// `work_folder`, or replaces it. Thread-compatible: one call for each work
// folder. The result owns copies. Memory: a few times kMostExplanationBytes
// here, and `limit_bytes` in the reader's cgroup. Time: at most
// `time_limit_seconds`. Errors: kNotFound if there are no records, or their
// folder cannot be read; kInvalidArgument if the reader crashed, exceeded its
// limits or wrote nonsense; else FileError's for the program, and those of
// RunInSandbox.

#ifndef FOOTPRINT_GATES_TRIALS_CONFINED_READER_H_
#define FOOTPRINT_GATES_TRIALS_CONFINED_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/sandbox/sandbox.h"
#include "footprint/gates/trials/explain_records.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

inline constexpr int64_t kReaderLimitBytes = int64_t{1} << 30;
inline constexpr int kReaderSeconds = 60;

struct RecordsToRead {
  RecordedRun run;
  std::string work_folder;
  std::string bundle_folder;
  int64_t limit_bytes = kReaderLimitBytes;
  int time_limit_seconds = kReaderSeconds;
};

// Returns the explanation that `reader_program`, an executable's bytes, makes
// of the records in a sandbox.
absl::StatusOr<TrialExplanation> ReadRecordsConfined(
    const SandboxRoot& root, const RecordsToRead& records,
    absl::string_view reader_program);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_CONFINED_READER_H_
