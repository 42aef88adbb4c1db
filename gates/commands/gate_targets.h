// Names the Bazel targets that run the gate programs in the present workspace.
// In a workspace that uses Footprint they differ from those of Footprint's own
// tree.
//
//   absl::StrCat("explain it with: bazel run ", GateTarget("explain"));
//   return FinishProgram("audit", NameGateTargets(kHelp), "", 0);
//
// The rules of gates/defs.bzl pass their names in the environment variable
// FOOTPRINT_GATE_TARGETS:
// "check=//planted:memory,update=//planted:update_memory".
//
// Thread-safe, if no thread changes the environment. The results own their
// texts. Memory and time: linear in the text.

#ifndef FOOTPRINT_GATES_COMMANDS_GATE_TARGETS_H_
#define FOOTPRINT_GATES_COMMANDS_GATE_TARGETS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns the target that runs `program`, such as "check" or "import": the one
// that the rule named; else Footprint's own, by its name in this workspace; or
// "//PACKAGE:PROGRAM" for a program that only a rule of the using workspace can
// provide.
std::string GateTarget(absl::string_view program);

// Returns `text` with these targets in place of Footprint's own, such as
// "//gates:check".
std::string NameGateTargets(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_COMMANDS_GATE_TARGETS_H_
