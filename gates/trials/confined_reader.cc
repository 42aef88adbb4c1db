#include "footprint/gates/trials/confined_reader.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/trials/checked_explanation.h"

namespace footprint {
namespace {

constexpr int kReaderProcesses = 16;
constexpr size_t kMostReasonBytes = 300;

absl::Status WriteProgram(const std::string& path, absl::string_view bytes) {
  const absl::Status status = ReplaceFile(path, bytes, ToDisk::kNoFsync);
  if (!status.ok()) return status;
  if (chmod(path.c_str(), 0555) == 0) return absl::OkStatus();
  return FileError(errno, path, "cannot be made a program");
}

SandboxRun ReaderRun(const RecordsToRead& records, const std::string& program) {
  SandboxRun run;
  run.program = "/runner";
  run.runner = program;
  run.arguments = {"record_reader",
                   "/records",
                   absl::StrCat(records.run.exit_status),
                   absl::StrCat(records.run.signal_number),
                   absl::StrCat(records.run.wall_time_ns),
                   records.run.root_folder};
  run.arguments.insert(run.arguments.end(), records.run.arguments.begin(),
                       records.run.arguments.end());
  // A sanitizer's leak check needs ptrace, which the sandbox refuses.
  run.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC",
                     "ASAN_OPTIONS=detect_leaks=0"};
  run.bundle_folder = records.bundle_folder;
  run.records_folder = records.run.folder;
  run.limit_bytes = records.limit_bytes;
  run.scratch_bytes = 1 << 20;
  run.process_limit = kReaderProcesses;
  run.time_limit_seconds = records.time_limit_seconds;
  // One byte more than the maximum shows that the output was too long.
  run.output_tail_bytes = kMostExplanationBytes + 1;
  return run;
}

std::string WhyItFailed(const SandboxEnd& end) {
  if (end.is_timed_out) return "took too long";
  if (end.killed_process_count > 0) return "needed too much memory";
  if (end.signal_number != 0) {
    return absl::StrCat("was ended by signal ", end.signal_number);
  }
  const std::string said =
      EscapeForTerminal(end.standard_error_tail.substr(0, kMostReasonBytes));
  return absl::StrCat("ended with status ", end.exit_status,
                      said.empty() ? "" : ": ", said);
}

}  // namespace

absl::StatusOr<TrialExplanation> ReadRecordsConfined(
    const SandboxRoot& root, const RecordsToRead& records,
    absl::string_view reader_program) {
  std::error_code error;
  if (std::filesystem::is_empty(records.run.folder, error) || error) {
    return absl::NotFoundError("the program left no records");
  }
  const std::string program = records.work_folder + "/record_reader";
  const absl::Status written = WriteProgram(program, reader_program);
  if (!written.ok()) return written;
  const absl::StatusOr<SandboxEnd> end =
      RunInSandbox(root, ReaderRun(records, program));
  if (!end.ok()) return end.status();
  if (end->is_timed_out || end->signal_number != 0 || end->exit_status != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("their reader ", WhyItFailed(*end)));
  }
  return CheckedExplanation(end->standard_output_tail);
}

}  // namespace footprint
