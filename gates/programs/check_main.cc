// Judges profiles by thresholds, writes the verdict and ends with its number as
// the exit status. Run through the rules of gates/defs.bzl, which give it a
// manifest.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/programs/command_flags.h"
#include "footprint/gates/report/junit_report.h"
#include "footprint/gates/report/report_formats.h"
#include "footprint/gates/report/verdict_words.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Judges measured memory by the thresholds that are checked in.

  bazel run //gates:check                                   the verdict as text
  bazel run //gates:check -- --format=markdown              for a merge request
  bazel run //gates:check -- --format=junit --output=x.xml  for a CI system

Flags
  --format=text|json|junit|markdown   how the verdict is written (text)
  --output=FILE                       where (standard output)
  --help                              this text

Exit status: the decision; of several, the first of this list
  2 BAD_CONFIGURATION     a threshold or profile that cannot be judged by, a
                          threshold that matches nothing, a benchmark that no
                          threshold judges
  1 REJECT                a blocking rule does not hold
  3 PRODUCER_FAILED       a measured program crashed, hung or wrote no profile
  5 ENVIRONMENT_MISMATCH  exact values are kept for other environments only
  4 INCONCLUSIVE          a metric that is judged did not repeat
  0 ACCEPT                every blocking rule holds

Each line that is not accepted names the command that would accept it. Figures
come from the profiles: bytes of heap that the program held at most ("peak
live"), handed out in total ("allocated"), and so on; profiling/README.md
explains each. Nothing is measured again unless the measured code changed.
)";

std::string EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A path of the person who typed `bazel run`, which changes the folder.
std::string PathOfCaller(const std::string& path) {
  const std::string folder = EnvironmentValue("BUILD_WORKING_DIRECTORY");
  return path.empty() || path[0] == '/' || folder.empty()
             ? path
             : absl::StrCat(folder, "/", path);
}

bool WantsColour() {
  return isatty(STDOUT_FILENO) != 0 && EnvironmentValue("NO_COLOR").empty() &&
         EnvironmentValue("TERM") != "dumb";
}

int Complain(absl::string_view message) {
  std::fprintf(stderr, "check: %s\n", std::string(message).c_str());
  return BAD_CONFIGURATION;
}

absl::Status WriteStandardOutput(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
      std::fflush(stdout) != 0) {
    return absl::ResourceExhaustedError(
        "the verdict cannot be written to the standard output");
  }
  return absl::OkStatus();
}

// Each format, where Bazel collects what a test leaves behind; the one that CI
// systems read also where Bazel passes it on.
absl::Status WriteTestOutputs(const Verdict& verdict) {
  const std::string xml = EnvironmentValue("XML_OUTPUT_FILE");
  absl::Status status;
  if (!xml.empty()) {
    status.Update(ReplaceFile(xml, WriteJunitReport(verdict), ToDisk::kFlush));
  }
  const std::string folder = EnvironmentValue("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder.empty()) return status;
  for (const ReportFormat& format : ReportFormats()) {
    status.Update(ReplaceFile(absl::StrCat(folder, "/", format.file_name),
                              format.write(verdict), ToDisk::kFlush));
  }
  return status;
}

absl::Status WriteVerdict(const Verdict& verdict, const ReportFormat& format,
                          const std::string& output) {
  absl::Status status = WriteTestOutputs(verdict);
  if (!output.empty()) {
    status.Update(ReplaceFile(PathOfCaller(output), format.write(verdict),
                              ToDisk::kFlush));
    status.Update(WriteStandardOutput(SummaryLine(verdict) + "\n"));
    return status;
  }
  status.Update(WriteStandardOutput(WantsColour()
                                        ? format.write_for_terminal(verdict)
                                        : format.write(verdict)));
  return status;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments, {"manifest", "update_target", "format", "output"},
      {"complete", "help"});
  if (!flags.ok()) return Complain(flags.status().message());
  if (flags->Has("help")) {
    std::fputs(kHelp, stdout);
    return ACCEPT;
  }
  if (!flags->Has("manifest")) {
    return Complain(
        "no --manifest; run a memory_gate_suite or memory_gate_test target, "
        "which gives it");
  }
  const absl::StatusOr<const ReportFormat*> format =
      FindReportFormat(flags->Value("format", "text"));
  if (!format.ok()) return Complain(format.status().message());

  EvaluationOptions options;
  options.update_target = flags->Value("update_target", options.update_target);
  options.is_complete = flags->Has("complete");
  const Verdict verdict =
      Judge(ReadGateInput(flags->Value("manifest", "")), options);
  const absl::Status status =
      WriteVerdict(verdict, **format, flags->Value("output", ""));
  if (!status.ok()) return Complain(status.message());
  return verdict.decision();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
