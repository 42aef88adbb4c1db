// Judges profiles by thresholds, writes the verdict and ends with its number as
// the exit status. Run through the rules of gates/defs.bzl, which give it a
// manifest.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/programs/command_flags.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/gates/reports/junit_report.h"
#include "footprint/gates/reports/report_formats.h"
#include "footprint/gates/reports/verdict_selection.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Judges measured memory by the thresholds that are checked in.

  bazel run //gates:check                         a line a deployment, whatever
                                                  is not accepted, the verdict
  bazel run //gates:check -- --all                every rule with its figures
  bazel run //gates:check -- --only='//memo/*'    these deployments alone
  bazel run //gates:check -- --format=markdown    for a merge request
  bazel run //gates:check -- --all --format=junit --output=x.xml
                                                  for a CI system

Flags
  --all                               every rule, not only the nearest of each
                                      deployment and what is not accepted
  --only=GLOB                         deployments whose label this names; '*'
                                      stands for any characters
  --format=text|json|junit|markdown   how the verdict is written (text); each
                                      tells the same
  --output=FILE                       where (standard output)
  --help                              this text

A deployment's line tells how many rules judge it, how much of a limit is left
where least is left, and which limit that is: FILE:LINE. A margin of "9.4 % of
108 KiB" is what the program may still grow by before the gate rejects it.
Exact values have no margin: each byte more or less rejects.

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
explains each.

check measures nothing. Before it starts, Bazel measures the programs whose code
changed, and says so: "Measuring memory of //memo:get_benchmark".

Text is in colour on a terminal, unless NO_COLOR is set, and as wide as that, or
80 characters wide.
)";

constexpr char kProgram[] = "check";

// Each format with every rule, where Bazel collects what a test leaves behind;
// the one that CI systems read also where Bazel passes it on.
absl::Status WriteTestOutputs(const Verdict& verdict) {
  const std::string xml = EnvironmentValue("XML_OUTPUT_FILE");
  ReportOptions options;
  options.has_every_rule = true;
  absl::Status status;
  if (!xml.empty()) {
    status.Update(
        ReplaceFile(xml, WriteJunitReport(verdict, options), ToDisk::kFlush));
  }
  const std::string folder = EnvironmentValue("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder.empty()) return status;
  for (const ReportFormat& format : ReportFormats()) {
    status.Update(ReplaceFile(absl::StrCat(folder, "/", format.file_name),
                              format.write(verdict, options), ToDisk::kFlush));
  }
  return status;
}

absl::Status WriteVerdict(const Verdict& verdict, const ReportFormat& format,
                          bool has_every_rule, const std::string& output) {
  absl::Status status = WriteTestOutputs(verdict);
  ReportOptions options = OptionsFor(output);
  options.has_every_rule = has_every_rule;
  if (!output.empty()) {
    status.Update(ReplaceFile(PathOfCaller(output),
                              format.write(verdict, options), ToDisk::kFlush));
    status.Update(WriteStandardOutput(SummaryLine(verdict) + "\n"));
    return status;
  }
  status.Update(WriteStandardOutput(format.write(verdict, options)));
  return status;
}

// The labels that --only= may name: of all that should be judged, read or not.
std::vector<std::string> LabelsOf(const GateInput& input) {
  std::vector<std::string> labels;
  for (const MemoryProfile& profile : input.profiles) {
    labels.push_back(profile.label());
  }
  for (const Problem& problem : input.problems) {
    if (absl::StartsWith(problem.location(), "//")) {
      labels.push_back(problem.location());
    }
  }
  return labels;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags =
      ParseSuiteFlags(arguments, {"format", "only"}, {"all"});
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help")) {
    return FinishProgram(kProgram, kHelp, "", ACCEPT);
  }
  const absl::StatusOr<const ReportFormat*> format =
      FindReportFormat(flags->Value("format", "text"));
  if (!format.ok()) return Complain(kProgram, format.status().message());
  const absl::StatusOr<JudgedSuite> suite = JudgeSuite(*flags);
  if (!suite.ok()) return Complain(kProgram, suite.status().message());
  absl::StatusOr<Verdict> verdict = suite->verdict;
  if (flags->Has("only")) {
    verdict = OnlyDeployments(*verdict, flags->Value("only", ""),
                              LabelsOf(suite->input));
    if (!verdict.ok()) return Complain(kProgram, verdict.status().message());
  }
  const absl::Status status = WriteVerdict(
      *verdict, **format, flags->Has("all"), flags->Value("output", ""));
  if (!status.ok()) return Complain(kProgram, status.message());
  return verdict->decision();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
