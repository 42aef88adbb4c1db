// Finds weak spots of gates: benchmarks that no blocking rule guards, limits
// that match nothing or are too loose, raises that have expired, and limits
// that drifted.
//
//   AuditOptions options;
//   options.today = "2026-11-22";
//   for (const AuditFinding& finding : AuditGates(input, verdict, options)) {
//     Show(FindingWord(finding.kind), finding.location, finding.message);
//   }
//
// Pure functions, thread-safe; results copy what they name. Memory: the
// findings and the index (measurement_index.h). Time: that of Evaluate.

#ifndef FOOTPRINT_GATES_EXPLAINING_GATE_AUDIT_H_
#define FOOTPRINT_GATES_EXPLAINING_GATE_AUDIT_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {

struct AuditFinding {
  enum class Kind {
    kUnguarded,  // a benchmark without a blocking rule
    kUnused,     // a limit that matches nothing
    kNeverRun,   // a file for an environment that no profile has; a caller may
                 // add files and profiles that no gate names
    kLoose,      // a limit above the value and its headroom
    kExpired,    // a raise whose last day has passed
    kDrifted,    // a limit far above its first value
    kBroken,     // a problem, so that nothing is judged
  };
  Kind kind = Kind::kUnguarded;
  std::string location;  // "file:line", a label or a path
  std::string message;   // the fault, and the next step
  std::string command;   // of the next step; may be empty
};

struct AuditOptions {
  std::string today;  // "2026-11-22"
  // How far above the measured value a maximum may be in files that state no
  // headroom. If absent, limits in such files are never too loose.
  absl::optional<Headroom> headroom;
  // The percentage by which a limit may be above its first value.
  double drift_percent = 10;
  std::string update_target = "//gates:update";
};

// Returns the findings by kind, then in the order of the input.
std::vector<AuditFinding> AuditGates(const GateInput& input,
                                     const Verdict& verdict,
                                     const AuditOptions& options);

// Returns "unguarded", "unused", ...
const char* FindingWord(AuditFinding::Kind kind);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_GATE_AUDIT_H_
