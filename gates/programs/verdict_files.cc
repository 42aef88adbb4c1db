#include "footprint/gates/programs/verdict_files.h"

#include <cstddef>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/explaining/gate_page.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/reports/report_formats.h"

namespace footprint {
namespace {

constexpr char kPage[] = "html";

std::filesystem::path NormalPath(const std::string& path) {
  return std::filesystem::path(PathOfCaller(path)).lexically_normal();
}

}  // namespace

absl::Status CheckVerdictFormat(absl::string_view format) {
  if (format == kPage) return absl::OkStatus();
  const absl::Status status = FindReportFormat(format).status();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat(status.message(), ", or ", kPage));
}

absl::StatusOr<std::vector<VerdictFile>> ParseVerdictFiles(
    const std::vector<std::string>& values,
    absl::Status (*check_format)(absl::string_view)) {
  std::vector<VerdictFile> files;
  std::set<std::string> paths;
  for (const std::string& value : values) {
    const size_t colon = value.find(':');
    if (colon == std::string::npos || colon + 1 == value.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--write=", EscapeForTerminal(value),
                       " is not FORMAT:FILE, such as sarif:gates.sarif"));
    }
    VerdictFile file{value.substr(0, colon), value.substr(colon + 1)};
    absl::Status status = check_format(file.format);
    if (!status.ok()) return status;
    if (!paths.insert(file.path).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two formats are to be written into ",
                       EscapeForTerminal(file.path), "; give each a file"));
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::string WriteVerdictAs(absl::string_view format, const GateInput& input,
                           const Verdict& verdict,
                           const ReportOptions& options) {
  if (format == kPage) return WriteGatePage(input, verdict);
  return (*FindReportFormat(format))->write(verdict, options);
}

absl::Status WriteVerdictFiles(const std::vector<VerdictFile>& files,
                               const GateInput& input, const Verdict& verdict,
                               const ReportOptions& options) {
  absl::Status status;
  for (const VerdictFile& file : files) {
    status.Update(
        WriteReport(PathOfCaller(file.path),
                    WriteVerdictAs(file.format, input, verdict, options)));
  }
  return status;
}

absl::Status WriteVerdict(const GateInput& input, const Verdict& verdict,
                          const CommandFlags& flags,
                          const std::vector<VerdictFile>& files,
                          bool has_every_rule) {
  const std::string output = flags.Value("output", "");
  for (const VerdictFile& file : files) {
    if (output.empty() || NormalPath(file.path) != NormalPath(output)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--output and --write=", file.format, " are both to be written into ",
        EscapeForTerminal(output), "; give each a file"));
  }
  ReportOptions options;
  options.has_every_rule = has_every_rule;
  absl::Status status = WriteVerdictFiles(files, input, verdict, options);
  options = OptionsFor(output);
  options.has_every_rule = has_every_rule;
  const std::string report =
      WriteVerdictAs(flags.Value("format", "text"), input, verdict, options);
  if (output.empty()) {
    status.Update(WriteStandardOutput(report));
    return status;
  }
  status.Update(WriteReport(PathOfCaller(output), report));
  status.Update(WriteStandardOutput(SummaryLine(verdict) + "\n"));
  return status;
}

std::vector<VerdictFile> EveryVerdictFile(const std::string& folder) {
  std::vector<VerdictFile> files;
  for (const ReportFormat& format : ReportFormats()) {
    files.push_back({format.name, absl::StrCat(folder, "/", format.file_name)});
  }
  files.push_back({kPage, absl::StrCat(folder, "/verdict.html")});
  return files;
}

}  // namespace footprint
