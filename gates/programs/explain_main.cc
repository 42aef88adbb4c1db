// Everything that is known of a gate. Run through memory_gate_suite, which
// gives it a manifest.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/gates/explaining/explanation_text.h"
#include "footprint/gates/explaining/gate_explanation.h"
#include "footprint/gates/explaining/profile_folder.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/programs/command_flags.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr char kHelp[] =
    R"(Tells everything that is known of a gate: the rule and who owns it, what was
measured and the margin, how the limit came to be, what each phase needed, what
grew and where, and the command that accepts it.

  bazel run //gates:explain -- tabular:42        the limit at this line, as
                                                 //gates:check prints it
  bazel run //gates:explain -- //memo:get_benchmark
                                                 what is not accepted there, or
                                                 else the nearest limit
  bazel run //gates:explain -- --before=/tmp/old tabular:42
                                                 what grew since these profiles

Flags
  --benchmark=GLOB    of a label, these benchmarks; '*': any characters
  --all               of a label, every rule
  --before=PATH       an earlier profile, or a folder of them, kept by `bazel
                      run //gates:diff -- --save=FOLDER`. Without it,
                      exact values that no longer hold tell what grew.
  --format=text|json  how it is written (text)
  --output=FILE       where (standard output)
  --help              this text

Exit status: 0 every rule that is explained holds, 1 one does not, 2 a mistake
that the message names.
)";

constexpr char kProgram[] = "explain";

int ExitStatusOf(const std::vector<GateExplanation>& explanations) {
  for (const GateExplanation& explanation : explanations) {
    if (explanation.judgement.decision() != ACCEPT) return 1;
  }
  return 0;
}

int Explain(const CommandFlags& flags) {
  ExplainOptions options;
  options.gate = flags.words().front();
  options.benchmark = flags.Value("benchmark", "*");
  options.has_every_rule = flags.Has("all");
  options.update_target = flags.Value("update_target", options.update_target);
  std::vector<MemoryProfile> before;
  if (flags.Has("before")) {
    absl::StatusOr<std::vector<MemoryProfile>> read =
        ReadProfiles(PathOfCaller(flags.Value("before", "")));
    if (!read.ok()) return Complain(kProgram, read.status().message());
    before = *std::move(read);
    options.before = before;
  }
  EvaluationOptions evaluation;
  evaluation.update_target = options.update_target;
  evaluation.is_complete = flags.Has("complete");
  const GateInput input = ReadGateInput(flags.Value("manifest", ""));
  const absl::StatusOr<std::vector<GateExplanation>> explanations =
      ExplainGates(input, Judge(input, evaluation), options);
  if (!explanations.ok()) {
    return Complain(kProgram, explanations.status().message());
  }
  const std::string output = flags.Value("output", "");
  return FinishProgram(
      kProgram,
      flags.Value("format", "text") == "json"
          ? WriteExplanationJson(*explanations)
          : WriteExplanationText(*explanations, output.empty()
                                                    ? OptionsOfTerminal()
                                                    : ReportOptions()),
      output, ExitStatusOf(*explanations));
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments,
      {"manifest", "update_target", "benchmark", "before", "format", "output"},
      {"all", "complete", "help"}, /*most_words=*/1);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help")) return FinishProgram(kProgram, kHelp, "", 0);
  if (!flags->Has("manifest")) {
    return Complain(kProgram,
                    "no --manifest; run a memory_gate_suite's target, which "
                    "gives it");
  }
  const std::string format = flags->Value("format", "text");
  if (format != "text" && format != "json") {
    return Complain(kProgram, absl::StrCat("there is no format \"", format,
                                           "\"; use text or json"));
  }
  if (flags->words().empty()) {
    return Complain(kProgram,
                    "name a gate: a limit as check prints it, FILE:LINE, or a "
                    "label; see --help");
  }
  return Explain(*flags);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
