// Edits numbers in any text of thresholds. An edit is refused or makes the
// requested change; it never returns kInternal, which would be a bug of the
// editor.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/updating/threshold_edit.h"

namespace footprint {
namespace {

// A limit of some MiB is valid for every rule.
constexpr int64_t kNewLimit = 5432109;

void EditAnyText(absl::string_view text) {
  const ThresholdSource source = ParseThresholdFile("t.textproto", text);
  if (!source.problems.empty()) return;
  for (int i = 0; i < source.file.threshold_size(); ++i) {
    ThresholdChange change;
    change.threshold = i;
    if (source.file.threshold(i).has_max_ratio()) {
      change.ratio = 1.5;
    } else {
      change.limit = kNewLimit;
    }
    const absl::StatusOr<std::string> edited =
        EditThresholds("t.textproto", text, {change});
    if (!edited.ok()) {
      RequireRefusal(edited.status());
      continue;
    }
    Require(ParseThresholdFile("t.textproto", *edited).file.threshold_size() ==
                source.file.threshold_size(),
            "an edit keeps all thresholds");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(EditAnyText)

}  // namespace footprint
