// Parses any bytes as an explanation: they are refused, or the result is
// bounded and without control characters.

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/trials/checked_explanation.h"

namespace footprint {
namespace checked_explanation_fuzz_test {

void CheckAnyBytes(absl::string_view bytes) {
  const absl::StatusOr<TrialExplanation> checked = CheckedExplanation(bytes);
  if (!checked.ok()) return RequireRefusal(checked.status());
  Require(checked->heap_peak_bytes() >= 0, "a peak is not below zero");
  for (const auto& site : checked->peak_sites()) {
    Require(site.site() == EscapeForProto(site.site()), "a site is plain text");
  }
  Require(checked->peak_stage() == EscapeForProto(checked->peak_stage()),
          "a stage is plain text");
  const auto again = CheckedExplanation(checked->SerializeAsString());
  Require(again.ok(), "one that is checked stays good");
}

FOOTPRINT_FUZZ_TARGET(CheckAnyBytes)

}  // namespace checked_explanation_fuzz_test
}  // namespace footprint
