// The Bazel targets that run the programs of the gates in the workspace at
// hand. An importer's are not those of Footprint's own tree.
//
//   absl::StrCat("explain it with: bazel run ", GateTarget("explain"));
//   return FinishProgram("audit", NameGateTargets(kHelp), "", 0);
//
// The rules of gates/defs.bzl pass their names in the environment variable
// FOOTPRINT_GATE_TARGETS:
// "check=//planted:memory,update=//planted:update_memory".
//
// Thread-safe, if no thread changes the environment. The results own their
// texts; nothing is kept. Memory and time: linear in the text.

#ifndef FOOTPRINT_GATES_COMMANDS_GATE_TARGETS_H_
#define FOOTPRINT_GATES_COMMANDS_GATE_TARGETS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// The target that runs `program`, such as "check" or "import": the one that the
// rule named; else Footprint's own, as it is called here; or, for what only a
// rule of the importer's can give, "//PACKAGE:PROGRAM".
std::string GateTarget(absl::string_view program);

// `text` with these in the place of Footprint's own, such as "//gates:check".
std::string NameGateTargets(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_COMMANDS_GATE_TARGETS_H_
