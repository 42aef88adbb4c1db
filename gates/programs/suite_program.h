// The start that the programs of a gate suite have in common: flags and the
// verdict over the suite's files.
//
//   absl::StatusOr<CommandFlags> flags =
//       ParseSuiteFlags(arguments, {"headroom", "format"}, {"all"});
//   if (!flags.ok()) return Complain("audit", flags.status().message());
//   if (flags->Has("help")) return FinishProgram("audit", kHelp, "", 0);
//   const absl::StatusOr<JudgedSuite> suite = JudgeSuite(*flags);
//
// memory_gate_suite of gates/defs.bzl gives --manifest, --update_target and
// --complete. Thread-safe; results own copies of all that they hold. Memory and
// time: as ReadGateInput and Judge.

#ifndef FOOTPRINT_GATES_PROGRAMS_SUITE_PROGRAM_H_
#define FOOTPRINT_GATES_PROGRAMS_SUITE_PROGRAM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/gates/programs/command_flags.h"

namespace footprint {

// The program's own flags besides those of the suite, --output and --help.
// kInvalidArgument for others.
absl::StatusOr<CommandFlags> ParseSuiteFlags(
    const std::vector<std::string>& arguments, std::vector<std::string> valued,
    std::vector<std::string> plain, size_t most_words = 0);

// Returns whether --format is json rather than text, which it is if it is not
// given. kInvalidArgument for another.
absl::StatusOr<bool> IsJsonWanted(const CommandFlags& flags);

// The suite's target for updates, and whether its files are complete.
EvaluationOptions SuiteEvaluationOptions(const CommandFlags& flags);

// kFailedPrecondition if no suite gave a manifest; what the manifest names is
// in the input's problems if it cannot be read.
absl::StatusOr<GateInput> ReadSuite(const CommandFlags& flags);

struct JudgedSuite {
  GateInput input;
  Verdict verdict;
};

// ReadSuite and Judge.
absl::StatusOr<JudgedSuite> JudgeSuite(const CommandFlags& flags);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_SUITE_PROGRAM_H_
