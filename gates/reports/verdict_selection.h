// Selects the part of a verdict that is about some deployments.
//
//   absl::StatusOr<Verdict> part =
//       OnlyDeployments(verdict, "//memo/*", labels_of_all_profiles);
//   if (!part.ok()) return part.status();  // the glob matches nothing
//   return part->decision();
//
// Pure function, thread-safe; the result is a copy. Memory and time: linear in
// the verdict.

#ifndef FOOTPRINT_GATES_REPORTS_VERDICT_SELECTION_H_
#define FOOTPRINT_GATES_REPORTS_VERDICT_SELECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

// Returns the verdict without the judgements, remarks and problems of those
// deployments in `labels` that do not match `label_glob` (selector.h), and
// without overrides, with the decision that follows from the rest. Problems of
// threshold files always stay, since they may hide a rule. Returns
// kInvalidArgument if the glob is not valid, or matches no label.
absl::StatusOr<Verdict> OnlyDeployments(const Verdict& verdict,
                                        absl::string_view label_glob,
                                        const std::vector<std::string>& labels);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_VERDICT_SELECTION_H_
