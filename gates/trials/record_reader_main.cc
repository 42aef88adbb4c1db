// Reads the records that a program left, in a confined process:
//
//   record_reader FOLDER EXIT_STATUS SIGNAL_NUMBER WALL_TIME_NS ROOT_FOLDER
//                 ARGUMENT...
//
// Standard output gets a TrialExplanation, standard error the reason if there
// is none. ReadRecordsConfined starts it.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "footprint/base/files/read_write.h"
#include "footprint/gates/trials/explain_records.h"

namespace footprint {
namespace {

int Main(int argc, char** argv) {
  RecordedRun run;
  if (argc < 7 || !absl::SimpleAtoi(argv[2], &run.exit_status) ||
      !absl::SimpleAtoi(argv[3], &run.signal_number) ||
      !absl::SimpleAtoi(argv[4], &run.wall_time_ns)) {
    return 2;
  }
  run.folder = argv[1];
  run.root_folder = argv[5];
  run.arguments.assign(argv + 6, argv + argc);
  const absl::StatusOr<TrialExplanation> explanation = ExplainRecords(run);
  if (!explanation.ok()) {
    std::fprintf(stderr, "%s\n",
                 std::string(explanation.status().message()).c_str());
    return 1;
  }
  const std::string bytes = explanation->SerializeAsString();
  const bool is_written =
      WriteOn(STDOUT_FILENO, bytes.data(), static_cast<int64_t>(bytes.size()));
  // Exits without destructors, since the records may have damaged the heap.
  _exit(is_written ? 0 : 1);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) { return footprint::Main(argc, argv); }
