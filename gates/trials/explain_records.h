// Explains a program's records: the peak of its heap, and the stage and the
// sites of the peak.
//
//   RecordedRun run;
//   run.folder = "/records";
//   run.arguments = {"train", "--rows=1000"};
//   absl::StatusOr<TrialExplanation> explanation = ExplainRecords(run);
//
// The records may be forged, so this runs only in record_reader, a confined
// process, and never in a server. Reads the records, and the objects and
// scripts that they name; changes nothing. Thread-compatible. Memory: twice the
// records. Errors: kNotFound without records, else those of ReadRecords.

#ifndef FOOTPRINT_GATES_TRIALS_EXPLAIN_RECORDS_H_
#define FOOTPRINT_GATES_TRIALS_EXPLAIN_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

struct RecordedRun {
  std::string folder;  // folder of the records
  // The folder in which the program's root is here; empty if it is the root.
  std::string root_folder;
  std::vector<std::string> arguments;  // the program's name and its arguments
  int exit_status = 0;
  int signal_number = 0;
  int64_t wall_time_ns = 0;
};

// Returns the explanation of a run from its records.
absl::StatusOr<TrialExplanation> ExplainRecords(const RecordedRun& run);

}  // namespace footprint

// Tested by run_trial_test.

#endif  // FOOTPRINT_GATES_TRIALS_EXPLAIN_RECORDS_H_
