#include "footprint/gates/judge/baseline_finder.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/peak_limit.h"
#include "footprint/gates/judge/selector.h"
#include "footprint/gates/judge/verdict_problem.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {

Measurement BaselineFinder::Find(const Selector& selector,
                                 const Threshold& threshold,
                                 const std::string& location,
                                 Verdict* verdict) {
  const std::vector<Measurement> found =
      index_.Find(selector, threshold.metric());
  std::string wrong;
  Decision decision = BAD_CONFIGURATION;
  if (found.empty()) {
    for (int profile : index_.FindProfiles(selector.label())) {
      if (index_.ProfileAt(profile).has_failure()) return {};
    }
    wrong = "is not measured here";
  } else if (found.size() > 1) {
    wrong = absl::StrCat(
        "is ambiguous: it names ", found.size(), " measurements, among them ",
        index_.Describe(found[0]), " and ", index_.Describe(found[1]));
  } else if (found[0].metric == nullptr) {
    wrong = index_.WhyNoValue(found[0], threshold.metric());
    decision = IsBlocking(threshold) ? INCONCLUSIVE : ACCEPT;
  } else if (found[0].metric->value() <= 0) {
    wrong = absl::StrCat("is ", found[0].metric->value(),
                         ", and a ratio needs one above zero");
  } else {
    return found[0];
  }
  if (location == last_bad_location_) return {};
  last_bad_location_ = location;
  AddProblem(decision, location,
             absl::StrCat("the baseline ", DescribeSelector(selector), " ",
                          SchemaNameOfMetric(threshold.metric()), " ", wrong,
                          "; correct max_ratio.baseline"),
             verdict);
  return {};
}

}  // namespace footprint
