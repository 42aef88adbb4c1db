#include "footprint/gates/programs/suite_program.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {

absl::StatusOr<CommandFlags> ParseSuiteFlags(
    const std::vector<std::string>& arguments, std::vector<std::string> valued,
    std::vector<std::string> plain, size_t most_words) {
  for (const char* name : {"manifest", "update_target", "output"}) {
    valued.push_back(name);
  }
  for (const char* name : {"complete", "help"}) plain.push_back(name);
  return CommandFlags::Parse(arguments, valued, plain, most_words);
}

EvaluationOptions SuiteEvaluationOptions(const CommandFlags& flags) {
  EvaluationOptions options;
  options.update_target = flags.Value("update_target", options.update_target);
  options.is_complete = flags.Has("complete");
  return options;
}

absl::StatusOr<GateInput> ReadSuite(const CommandFlags& flags) {
  if (!flags.Has("manifest")) {
    return absl::FailedPreconditionError(
        "no --manifest; run a memory_gate_suite or memory_gate_test target, "
        "which gives it");
  }
  return ReadGateInput(flags.Value("manifest", ""));
}

absl::StatusOr<JudgedSuite> JudgeSuite(const CommandFlags& flags) {
  absl::StatusOr<GateInput> input = ReadSuite(flags);
  if (!input.ok()) return input.status();
  Verdict verdict = Judge(*input, SuiteEvaluationOptions(flags));
  return JudgedSuite{*std::move(input), std::move(verdict)};
}

}  // namespace footprint
