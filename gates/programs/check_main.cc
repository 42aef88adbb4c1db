// Judges profiles by thresholds, writes the verdict, and exits with the number
// of its decision. The rules of gates/defs.bzl run it and give it a manifest.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/explaining/rejection_reasons.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/gates/programs/verdict_files.h"
#include "footprint/gates/reports/junit_report.h"
#include "footprint/gates/reports/verdict_selection.h"
#include "footprint/gates/reports/verdict_words.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Judges measured memory by the thresholds that are checked in.

  bazel run //gates:check                         one line for each deployment,
                                                  what is not accepted, and the
                                                  verdict
  bazel run //gates:check -- --all                every rule with its figures
  bazel run //gates:check -- --only='//memo/*'    only these deployments
  bazel run //gates:check -- --format=markdown    for a merge request
  bazel run //gates:check -- --all --format=junit --output=x.xml
                                                  for a CI system
  bazel run //gates:check -- --format=github --write=sarif:gates.sarif \
    --write=github-summary:"$GITHUB_STEP_SUMMARY"
                                                  several formats at once

Flags
  --all                               show every rule, also those that hold
                                      with room to spare
  --only=GLOB                         judge only deployments whose label this
                                      matches; '*' matches any characters
  --before=FOLDER                     older profiles, as //gates:diff --
                                      --save=FOLDER keeps them; a rejection then
                                      says what grew since
  --format=FORMAT                     the format of the verdict (default: text);
                                      all formats hold the same facts
  --output=FILE                       the file to write (default: standard
                                      output)
  --write=FORMAT:FILE                 also write this format to the file; may be
                                      repeated
  --help                              print this text

Formats
  text            for a terminal
  json, junit     for programs and CI systems
  markdown        for a merge request
  html            one page that needs no network, as //gates:report writes it
  sarif           SARIF 2.1.0, for code scanning and editors; 25,000 results
  github          a job's log: text, then annotations, 10 of a kind
  github-summary  a step's summary: Markdown of at most 1 MiB
  gitlab          GitLab's code quality: findings alone
  openmetrics     OpenMetrics 1.0, for dashboards
Findings that do not fit are counted at the end; those that reject come first.

A deployment's line says how many rules judge it, and names its nearest limit by
FILE:LINE, with the margin that is left. A margin of "9.4 % of 108 KiB" is how
much the program may still grow before the gate rejects it. Exact values have no
margin: one byte more or less is rejected.

Exit status: the decision. If there are several, the first of this list:
  2 BAD_CONFIGURATION     a threshold or profile that cannot be judged by, a
                          threshold that matches nothing, a benchmark that no
                          threshold judges
  1 REJECT                a blocking rule does not hold
  3 PRODUCER_FAILED       a measured program crashed, hung or wrote no profile
  5 ENVIRONMENT_MISMATCH  exact values are kept for other environments only
  4 INCONCLUSIVE          a metric that is judged did not repeat
  0 ACCEPT                every blocking rule holds

Each rejection names the phase in which the figure is highest, the code that
holds the bytes at the peak, and the command that would accept it. The figures
come from the profiles: "peak live" is the most heap that the program held at
once, "allocated" is all that it was given; profiling/README.md explains each.

check measures nothing itself. Before it starts, Bazel measures each program
whose code changed, and says so: "Measuring memory of //memo:get_benchmark".

Text is in colour on a terminal, unless NO_COLOR is set, and as wide as that, or
80 characters wide.
)";

constexpr char kProgram[] = "check";

// Writes each format, with every rule, to the folder of a test's outputs; and
// JUnit's XML, which CI systems read, also to the file that Bazel passes on.
absl::Status WriteTestOutputs(const GateInput& input, const Verdict& verdict) {
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
  status.Update(
      WriteVerdictFiles(EveryVerdictFile(folder), input, verdict, options));
  return status;
}

// Returns the labels that --only= may name: those of all profiles, whether they
// could be read or not.
std::vector<std::string> ListLabels(const GateInput& input) {
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

// Prints the next command in addition to the report, in any format. A gate that
// has no such program gets none.
void SayWhatComesNext(const Verdict& verdict) {
  const std::string target = GateTarget("compare");
  if (verdict.decision() != REJECT || absl::StartsWith(target, "//PACKAGE:")) {
    return;
  }
  std::fprintf(
      stderr,
      "check: to see what grew since a revision, and where: bazel run %s -- "
      "--base=origin/main\n",
      target.c_str());
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = ParseSuiteFlags(
      arguments, {"before", "format", "only", "write"}, {"all"});
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help")) {
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", ACCEPT);
  }
  absl::Status status = CheckVerdictFormat(flags->Value("format", "text"));
  if (!status.ok()) return Complain(kProgram, status.message());
  const absl::StatusOr<std::vector<VerdictFile>> files =
      ParseVerdictFiles(flags->Values("write"));
  if (!files.ok()) return Complain(kProgram, files.status().message());
  absl::StatusOr<std::vector<MemoryProfile>> before =
      std::vector<MemoryProfile>();
  if (flags->Has("before")) {
    before = ReadProfiles(PathOfCaller(flags->Value("before", "")));
  }
  if (!before.ok()) return Complain(kProgram, before.status().message());
  absl::StatusOr<JudgedSuite> suite = JudgeSuite(*flags);
  if (!suite.ok()) return Complain(kProgram, suite.status().message());
  ExplainRejections(suite->input, *before, &suite->verdict);
  absl::StatusOr<Verdict> verdict = suite->verdict;
  if (flags->Has("only")) {
    verdict = OnlyDeployments(*verdict, flags->Value("only", ""),
                              ListLabels(suite->input));
    if (!verdict.ok()) return Complain(kProgram, verdict.status().message());
  }
  status = WriteTestOutputs(suite->input, *verdict);
  status.Update(
      WriteVerdict(suite->input, *verdict, *flags, *files, flags->Has("all")));
  if (!status.ok()) return Complain(kProgram, status.message());
  SayWhatComesNext(*verdict);
  return verdict->decision();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
