// Explains everything that is known about a gate. The targets of
// memory_gate_suite run this program with a manifest of their files.

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/explaining/explanation_report.h"
#include "footprint/gates/explaining/gate_explanation.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/suite_program.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Explains a gate: the rule and its owner, the measured figure and its margin,
the history of the limit, what each phase needed, what grew and where, and the
command that accepts the figure.

  bazel run //gates:explain -- tabular:42        the limit at this line, as
                                                 //gates:check prints it
  bazel run //gates:explain -- //memo:get_benchmark
                                                 the limits that it exceeds, or
                                                 its nearest limit
  bazel run //gates:explain -- --before=/tmp/old tabular:42
                                                 what grew since these profiles
  bazel run //app:load.explain                   the gate of one program: the
                                                 limits that it exceeds, or its
                                                 nearest limit

Flags
  --benchmark=GLOB    explain only these benchmarks of the label; '*' matches
                      any characters
  --all               explain every rule of the label
  --before=PATH       an older profile, or a folder of them, as `bazel run
                      //gates:diff -- --save=FOLDER` keeps them. Without it, the
                      exact values that no longer hold show what grew.
  --format=FORMAT     text (the default), json, markdown or html
  --output=FILE       the file to write (default: standard output)
  --help              print this text

Exit status: 0 every explained rule holds; 1 a rule does not hold; 2 a mistake,
which the message names.
)";

constexpr char kProgram[] = "explain";

int FindExitStatus(const std::vector<GateExplanation>& explanations) {
  for (const GateExplanation& explanation : explanations) {
    if (explanation.judgement.decision() != ACCEPT) return 1;
  }
  return 0;
}

// Returns the label that all profiles share, or an empty text if their labels
// differ or there are no profiles.
std::string FindOnlyLabel(const GateInput& input) {
  std::set<std::string> labels;
  for (const MemoryProfile& profile : input.profiles) {
    labels.insert(profile.label());
  }
  return labels.size() == 1 ? *labels.begin() : "";
}

int Explain(const CommandFlags& flags, const std::string& format) {
  ExplainOptions options;
  options.benchmark = flags.Value("benchmark", "*");
  options.has_every_rule = flags.Has("all");
  options.update_target = SuiteEvaluationOptions(flags).update_target;
  // `options.before` refers to these profiles.
  std::vector<MemoryProfile> before;
  if (flags.Has("before")) {
    absl::StatusOr<std::vector<MemoryProfile>> read =
        ReadProfiles(PathOfCaller(flags.Value("before", "")));
    if (!read.ok()) return Complain(kProgram, read.status().message());
    before = *std::move(read);
    options.before = before;
  }
  const absl::StatusOr<JudgedSuite> suite = JudgeSuite(flags);
  if (!suite.ok()) return Complain(kProgram, suite.status().message());
  // A suite of one label needs no name of a gate.
  options.gate = flags.words().empty() ? FindOnlyLabel(suite->input)
                                       : flags.words().front();
  if (options.gate.empty()) {
    return Complain(kProgram,
                    "name a gate: a limit as check prints it, FILE:LINE, or a "
                    "label; see --help");
  }
  const absl::StatusOr<std::vector<GateExplanation>> explanations =
      ExplainGates(suite->input, suite->verdict, options);
  if (!explanations.ok()) {
    return Complain(kProgram, explanations.status().message());
  }
  const std::string output = flags.Value("output", "");
  return FinishProgram(
      kProgram,
      WriteReportAs(format, MakeExplanationReport(*explanations),
                    OptionsFor(output)),
      output, FindExitStatus(*explanations));
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags =
      ParseSuiteFlags(arguments, {"benchmark", "before", "format"}, {"all"},
                      /*most_words=*/1);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", 0);
  const std::string format = flags->Value("format", "text");
  const absl::Status known = CheckReportWriter(format);
  if (!known.ok()) return Complain(kProgram, known.message());
  return Explain(*flags, format);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
