// A verdict in several formats at once: --write=FORMAT:FILE, any number of
// times.
//
//   absl::StatusOr<std::vector<VerdictFile>> files =
//       ParseVerdictFiles(flags->Values("write"));
//   if (!files.ok()) return Complain("check", files.status().message());
//   absl::Status status = WriteVerdictFiles(*files, input, verdict, options);
//
// The formats are those of report_formats.h and the page of gate_page.h,
// "html". Thread-safe; results own what they name. Memory: one report at a
// time.

#ifndef FOOTPRINT_GATES_PROGRAMS_VERDICT_FILES_H_
#define FOOTPRINT_GATES_PROGRAMS_VERDICT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/programs/command_flags.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

struct VerdictFile {
  std::string format;
  std::string path;  // as the caller typed it
};

// kInvalidArgument names the formats there are.
absl::Status CheckVerdictFormat(absl::string_view format);

// kInvalidArgument: a value that is no FORMAT:FILE, a format that there is not,
// with those that there are, or a file that is named twice.
absl::StatusOr<std::vector<VerdictFile>> ParseVerdictFiles(
    const std::vector<std::string>& values,
    absl::Status (*check_format)(absl::string_view) = CheckVerdictFormat);

// `format` is one that CheckVerdictFormat takes.
std::string WriteVerdictAs(absl::string_view format, const GateInput& input,
                           const Verdict& verdict,
                           const ReportOptions& options);

// Each file in one step, relative to the caller's folder; a file that is there
// is replaced. The first failure, after all were tried.
absl::Status WriteVerdictFiles(const std::vector<VerdictFile>& files,
                               const GateInput& input, const Verdict& verdict,
                               const ReportOptions& options);

// Writes the verdict as --format= and --output= say (text, to standard output),
// and into `files`. Where a file takes it, standard output gets its summary.
// The first failure, after all were tried.
absl::Status WriteVerdict(const GateInput& input, const Verdict& verdict,
                          const CommandFlags& flags,
                          const std::vector<VerdictFile>& files,
                          bool has_every_rule);

// One file of each format in `folder`, by the names that tests leave behind.
std::vector<VerdictFile> EveryVerdictFile(const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_VERDICT_FILES_H_
