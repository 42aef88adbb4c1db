// Explains why a gate judges as it does: collects everything that is known
// about a rule.
//
//   absl::StatusOr<std::vector<GateExplanation>> gates =
//       ExplainGates(input, verdict, options);
//   if (!gates.ok()) return gates.status();  // the name matches no rule
//   std::cout << ReportText(MakeExplanationReport(*gates));
//
// Pure function, thread-safe; the result copies what it names. Memory: the
// benchmarks of the explained rules. Time: linear in the input.

#ifndef FOOTPRINT_GATES_EXPLAINING_GATE_EXPLANATION_H_
#define FOOTPRINT_GATES_EXPLAINING_GATE_EXPLANATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/gates/explaining/profile_diff.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct ExplainOptions {
  // The location of a rule, as check prints it ("tabular:12", or with its
  // folder and ending), or a label, in which '*' matches any characters.
  std::string gate;
  // Restricts a label to some benchmarks; may contain '*'.
  std::string benchmark = "*";
  // True: every rule of the label is explained. False: the rules that do not
  // hold are explained or, if all hold, the one nearest to its limit in each
  // deployment.
  bool has_every_rule = false;
  // Earlier profiles, which show what grew; if empty, exact values show it.
  absl::Span<const MemoryProfile> before;
  std::string update_target = "//gates:update";
};

struct GateExplanation {
  Judgement judgement;
  Threshold threshold;  // owner, reason, history
  int process_count = 0;
  // Locations of the more general thresholds that this one overrides.
  std::vector<std::string> wins_over;
  // Measurements that this threshold names but a more particular one judges:
  // "//a:b BM_Load: x.textproto:12".
  std::vector<std::string> gives_way;

  // Values of the judged metric by phase, and, if it is a peak of live bytes,
  // the holders of bytes at the peak of the whole. The largest come first.
  struct Part {
    std::string name;
    int64_t value = 0;
  };
  std::vector<Part> phases;
  std::vector<Part> held_at_peak;

  // Exact values of this benchmark that no longer hold; the largest growth
  // first.
  std::vector<Judgement> moved_exact_values;
  // Number of exact values of this benchmark that still hold.
  int kept_exact_values = 0;
  // Differences from `ExplainOptions::before`; not set without it, or if it has
  // no such benchmark.
  absl::optional<DiffNode> difference;

  // The command that accepts the measured value or, for a rule that holds,
  // moves the limit to it; empty if both are equal, or no command accepts it.
  std::string command;
};

// Returns one explanation for each rule, in the order of the verdict. Returns
// kInvalidArgument, with similar names, if `gate` names nothing that was
// judged, and kFailedPrecondition if nothing was judged because of a problem.
absl::StatusOr<std::vector<GateExplanation>> ExplainGates(
    const GateInput& input, const Verdict& verdict,
    const ExplainOptions& options);

// Returns whether `name`, in the form in which check prints a limit
// ("tabular:12"), means `location` ("gates/thresholds/tabular.textproto:12").
bool NamesLocation(absl::string_view name, absl::string_view location);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_GATE_EXPLANATION_H_
