// Finds gates that guard nothing. memory_gate_suite runs it and gives it a
// manifest.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/civil_time.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/audit_report.h"
#include "footprint/gates/explaining/gate_audit.h"
#include "footprint/gates/explaining/unnamed_files.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/gates/updating/threshold_update.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Finds rules that guard nothing, or less than they seem to.

  bazel run //gates:audit                    finds all that is listed below
  bazel run //gates:audit -- --headroom=25%  also finds limits more than 25 %
                                             above the measured figure, in files
                                             that state no headroom

It reports
  unguarded   a benchmark that no rule blocks
  unused      a limit on something that is not measured
  never run   a threshold file for an environment that no profile here has;
              one that no BUILD file names; a memory_profile that no BUILD file
              names again (macros are not looked into)
  loose       a limit further above the highest value that it judges than the
              headroom that its file states
  expired     a temporary raise (update --expires=DAY) whose day is past
  drifted     a limit far above the first value in its history
  broken      a problem because of which nothing is judged

Flags
  --headroom=HOW      the headroom of files that state none: exact, 10% or
                      4096 (bytes)
  --drift=PERCENT     how far a limit may lie above its first value
                      (default: 10%)
  --today=DAY         judge as on this day, such as 2026-12-31
  --format=FORMAT     text (the default), json, markdown or html
  --output=FILE       the file to write (default: standard output)
  --help              print this text

Exit status: 0 nothing was found; 1 something was found; 2 a mistake, which the
message names.
)";

constexpr char kProgram[] = "audit";

bool ReadPercent(absl::string_view text, double* percent) {
  return absl::SimpleAtod(absl::StripSuffix(text, "%"), percent) &&
         *percent >= 0 && *percent < 1e9;
}

// Returns findings on files that no Bazel rule names.
absl::StatusOr<std::vector<AuditFinding>> UnnamedFindings() {
  std::vector<AuditFinding> findings;
  const std::string workspace = EnvironmentValue("BUILD_WORKSPACE_DIRECTORY");
  if (workspace.empty()) {
    Complain(kProgram,
             "files that no BUILD file names were not looked for: that needs "
             "`bazel run`, which tells where the workspace is");
    return findings;
  }
  const absl::StatusOr<std::vector<UnnamedFile>> files =
      FindUnnamedFiles(workspace);
  if (!files.ok()) return files.status();
  for (const UnnamedFile& file : *files) {
    findings.push_back({AuditFinding::Kind::kNeverRun, file.name,
                        file.is_profile
                            ? "no BUILD file names this profile, so no gate "
                              "judges it; name it "
                              "in a memory_gate_test or memory_gate_suite"
                            : "no BUILD file names this file, so no gate "
                              "judges by it; name it "
                              "in a gate's thresholds, or remove it",
                        /*command=*/""});
  }
  return findings;
}

int Audit(const CommandFlags& flags, const AuditOptions& options,
          const std::string& format) {
  const absl::StatusOr<JudgedSuite> suite = JudgeSuite(flags);
  if (!suite.ok()) return Complain(kProgram, suite.status().message());
  std::vector<AuditFinding> findings =
      AuditGates(suite->input, suite->verdict, options);
  const absl::StatusOr<std::vector<AuditFinding>> unnamed = UnnamedFindings();
  if (!unnamed.ok()) return Complain(kProgram, unnamed.status().message());
  findings.insert(findings.end(), unnamed->begin(), unnamed->end());
  const std::string output = flags.Value("output", "");
  return FinishProgram(
      kProgram,
      WriteReportAs(format, MakeAuditReport(findings), OptionsFor(output)),
      output, findings.empty() ? 0 : 1);
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags =
      ParseSuiteFlags(arguments, {"headroom", "drift", "today", "format"}, {});
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", 0);
  const std::string format = flags->Value("format", "text");
  const absl::Status known = CheckReportWriter(format);
  if (!known.ok()) return Complain(kProgram, known.message());
  AuditOptions options;
  options.update_target = SuiteEvaluationOptions(*flags).update_target;
  options.today = flags->Value(
      "today", absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone()));
  absl::CivilDay day;
  if (!absl::ParseCivilTime(options.today, &day) ||
      absl::FormatCivilTime(day) != options.today) {
    return Complain(kProgram, "--today= is not a day; write it as 2026-12-31");
  }
  if (!ReadPercent(flags->Value("drift", "10%"), &options.drift_percent)) {
    return Complain(kProgram, "--drift= is not a percentage; write it as 10%");
  }
  if (flags->Has("headroom")) {
    const absl::StatusOr<Headroom> headroom =
        ParseHeadroom(flags->Value("headroom", ""));
    if (!headroom.ok()) return Complain(kProgram, headroom.status().message());
    options.headroom = *headroom;
  }
  return Audit(*flags, options, format);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
