#include "footprint/gates/reports/verdict_selection.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/near_names.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/judge/decision.h"
#include "footprint/gates/judge/selector.h"

namespace footprint {

absl::StatusOr<Verdict> OnlyDeployments(
    const Verdict& verdict, absl::string_view label_glob,
    const std::vector<std::string>& labels) {
  if (!IsGlob(label_glob)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--only=", EscapeForTerminal(label_glob),
        " has a backslash before something else than a star or a backslash"));
  }
  std::set<std::string> left_out;
  for (const std::string& label : labels) {
    if (!GlobMatches(label_glob, label)) left_out.insert(label);
  }
  if (left_out.size() ==
      std::set<std::string>(labels.begin(), labels.end()).size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no deployment of this gate is named --only=",
        EscapeForTerminal(label_glob), DidYouMean(label_glob, labels),
        "; '*' stands for any characters: --only='//memo/*'"));
  }
  const auto is_kept = [&left_out](const std::string& label) {
    return left_out.count(label) == 0;
  };
  Verdict part;
  for (const Judgement& judgement : verdict.judgements()) {
    if (is_kept(judgement.label())) *part.add_judgements() = judgement;
  }
  for (const Problem& problem : verdict.problems()) {
    if (is_kept(problem.location())) *part.add_problems() = problem;
  }
  for (const ProducerRemark& remark : verdict.remarks()) {
    if (is_kept(remark.label())) *part.add_remarks() = remark;
  }
  part.set_decision(ComputeDecision(part));
  return part;
}

}  // namespace footprint
