// Why a gate judges as it does: everything that is known of a rule.
//
//   absl::StatusOr<std::vector<GateExplanation>> gates =
//       ExplainGates(input, verdict, options);
//   if (!gates.ok()) return gates.status();  // the name means no rule
//   std::cout << WriteExplanationText(*gates, text_options);
//
// Pure function, thread-safe; the result copies what it names. Memory: the
// benchmarks of the rules that are explained. Time: linear in the input.

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
  // A rule's line, as check prints it ("tabular:12", or with its folder and
  // ending), or a label, in which '*' stands for any characters.
  std::string gate;
  // Narrows a label to some benchmarks; may hold '*'.
  std::string benchmark = "*";
  // Explains every rule of the one label that is named; if none is, the rules
  // that do not hold, or, where all hold, the nearest of each deployment.
  bool has_every_rule = false;
  // Profiles of an earlier time, which tell what grew; if empty, exact values
  // tell it.
  absl::Span<const MemoryProfile> before;
  std::string update_target = "//gates:update";
};

struct GateExplanation {
  Judgement judgement;
  Threshold threshold;  // owner, reason, history
  int process_count = 0;
  // The places of the more general thresholds that this one replaces.
  std::vector<std::string> wins_over;
  // Measurements that this threshold names, but a more particular one judges:
  // "//a:b BM_Load: x.textproto:12".
  std::vector<std::string> gives_way;

  // Values of the judged metric by phase, and, where that is a peak of live
  // bytes, the holders of bytes at the peak of the whole: the largest first.
  struct Part {
    std::string name;
    int64_t value = 0;
  };
  std::vector<Part> phases;
  std::vector<Part> held_at_peak;

  // Exact values of this benchmark that no longer hold; the largest growth
  // first.
  std::vector<Judgement> moved_exact_values;
  // How many exact values of this benchmark stand as they were.
  int kept_exact_values = 0;
  // Differences from `ExplainOptions::before`; not set without it, or if it has
  // no such benchmark.
  absl::optional<DiffNode> difference;

  // Accepts the measured value; of a rule that holds, brings it down to that.
  std::string command;
};

// One a rule, in the order of the verdict. kInvalidArgument if `gate` names
// nothing that was judged, with the nearest names; kFailedPrecondition if
// nothing was judged because of a problem.
absl::StatusOr<std::vector<GateExplanation>> ExplainGates(
    const GateInput& input, const Verdict& verdict,
    const ExplainOptions& options);

// Returns whether `name`, as check prints a limit ("tabular:12"), means
// `location` ("gates/thresholds/tabular.textproto:12").
bool NamesLocation(absl::string_view name, absl::string_view location);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_GATE_EXPLANATION_H_
