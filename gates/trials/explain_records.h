// Explanation of a program's records: its heap's peak, the stage and the sites.
//
//   RecordedRun run;
//   run.folder = "/records";
//   run.arguments = {"train", "--rows=1000"};
//   absl::StatusOr<TrialExplanation> explanation = ExplainRecords(run);
//
// The records may be forged, so this runs in record_reader alone, a process
// that is confined, and never in a server. Pure but for the files that it
// reads: the records, and the objects and scripts that they name.
// Thread-compatible. Memory: the records, twice. Errors: kNotFound without
// records, those of ReadRecords.

#ifndef FOOTPRINT_GATES_TRIALS_EXPLAIN_RECORDS_H_
#define FOOTPRINT_GATES_TRIALS_EXPLAIN_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/trials/trial.pb.h"

namespace footprint {

struct RecordedRun {
  std::string folder;                  // of the records
  std::vector<std::string> arguments;  // the program's, its name first
  int exit_status = 0;
  int signal_number = 0;
  int64_t wall_time_ns = 0;
};

absl::StatusOr<TrialExplanation> ExplainRecords(const RecordedRun& run);

}  // namespace footprint

// Tested by run_trial_test.

#endif  // FOOTPRINT_GATES_TRIALS_EXPLAIN_RECORDS_H_
