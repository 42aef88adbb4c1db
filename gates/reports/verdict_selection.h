// A part of a verdict: of the deployments that a reader asks for.
//
//   absl::StatusOr<Verdict> part =
//       OnlyDeployments(verdict, "//memo/*", labels_of_all_profiles);
//   if (!part.ok()) return part.status();  // it names nothing
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

// Judgements, remarks and problems of the deployments of `labels` that
// `label_glob` (selector.h) names, with the decision that follows from these.
// Problems of threshold files stay, whatever is asked for: they may hide a
// rule. kInvalidArgument if it is no glob, or names no label.
absl::StatusOr<Verdict> OnlyDeployments(const Verdict& verdict,
                                        absl::string_view label_glob,
                                        const std::vector<std::string>& labels);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_VERDICT_SELECTION_H_
