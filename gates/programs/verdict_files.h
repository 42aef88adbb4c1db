// Writes a verdict in several formats at once: --write=FORMAT:FILE, any number
// of times.
//
//   absl::StatusOr<std::vector<VerdictFile>> files =
//       ParseVerdictFiles(flags->Values("write"));
//   if (!files.ok()) return Complain("check", files.status().message());
//   absl::Status status = WriteVerdictFiles(*files, input, verdict, options);
//
// The formats are those of report_formats.h and the page of gate_page.h,
// "html". Thread-safe; results own their texts. Memory: one report at a time.

#ifndef FOOTPRINT_GATES_PROGRAMS_VERDICT_FILES_H_
#define FOOTPRINT_GATES_PROGRAMS_VERDICT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

struct VerdictFile {
  std::string format;
  std::string path;  // as the caller typed it
};

// Returns kInvalidArgument, with a list of the formats, for an unknown format.
absl::Status CheckVerdictFormat(absl::string_view format);

// Parses the values of --write. Returns kInvalidArgument for a value that is
// not FORMAT:FILE, for an unknown format (with a list of formats), and for a
// file that is named twice.
absl::StatusOr<std::vector<VerdictFile>> ParseVerdictFiles(
    const std::vector<std::string>& values,
    absl::Status (*check_format)(absl::string_view) = CheckVerdictFormat);

// Returns the verdict in a format that CheckVerdictFormat accepts.
std::string WriteVerdictAs(absl::string_view format, const GateInput& input,
                           const Verdict& verdict,
                           const ReportOptions& options);

// Writes or replaces each file atomically; paths are relative to the caller's
// folder. Tries all files, and returns the first failure.
absl::Status WriteVerdictFiles(const std::vector<VerdictFile>& files,
                               const GateInput& input, const Verdict& verdict,
                               const ReportOptions& options);

// Writes the verdict in the --format= and to the --output= of the flags (by
// default text, to standard output), and to `files`. If --output names a file,
// standard output gets the summary. Tries all, and returns the first failure.
// The --format= must be one that CheckVerdictFormat accepts.
absl::Status WriteVerdict(const GateInput& input, const Verdict& verdict,
                          const CommandFlags& flags,
                          const std::vector<VerdictFile>& files,
                          bool has_every_rule);

// Returns one file of each format in `folder`, with the names that tests use
// for their outputs.
std::vector<VerdictFile> EveryVerdictFile(const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_VERDICT_FILES_H_
