// Provides what the programs of a gate suite have in common: flags, and the
// verdict on the suite's files.
//
//   absl::StatusOr<CommandFlags> flags =
//       ParseSuiteFlags(arguments, {"headroom", "format"}, {"all"});
//   if (!flags.ok()) return Complain("audit", flags.status().message());
//   if (flags->Has("help")) return FinishProgram("audit", kHelp, "", 0);
//   const absl::StatusOr<JudgedSuite> suite = JudgeSuite(*flags);
//
// memory_gate_suite of gates/defs.bzl gives --manifest, --update_target and
// --complete. Thread-safe; results own copies. Memory and time: those of
// ReadGateInput and Judge.

#ifndef FOOTPRINT_GATES_PROGRAMS_SUITE_PROGRAM_H_
#define FOOTPRINT_GATES_PROGRAMS_SUITE_PROGRAM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {

// Parses the program's own flags and those of the suite, --output and --help.
// Returns kInvalidArgument for others.
absl::StatusOr<CommandFlags> ParseSuiteFlags(
    const std::vector<std::string>& arguments, std::vector<std::string> valued,
    std::vector<std::string> plain, size_t most_words = 0);

// Returns options with the suite's target for updates, and whether its files
// are complete.
EvaluationOptions SuiteEvaluationOptions(const CommandFlags& flags);

// Reads the suite's input. Returns kFailedPrecondition if there is no manifest.
// A file of the manifest that cannot be read is a problem of the input.
absl::StatusOr<GateInput> ReadSuite(const CommandFlags& flags);

struct JudgedSuite {
  GateInput input;
  Verdict verdict;
};

// Calls ReadSuite and Judge.
absl::StatusOr<JudgedSuite> JudgeSuite(const CommandFlags& flags);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_SUITE_PROGRAM_H_
