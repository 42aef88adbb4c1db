// Parses arbitrary text as a threshold of a report: a share, or bytes in any
// unit.

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/profiling/reports/report_threshold.h"

namespace footprint {
namespace {

void ParseAnyThreshold(absl::string_view text) {
  const absl::StatusOr<ReportThreshold> memory = ParseMemoryThreshold(text);
  const absl::StatusOr<ReportThreshold> share = ParseShareThreshold(text);
  if (memory.ok()) {
    Require(memory->amount >= 0, "bytes are not negative");
    Require(memory->percent >= 0 && memory->percent <= 100,
            "a percentage is a share");
  } else {
    RequireRefusal(memory.status());
    Require(!share.ok(), "a share of memory is a threshold of memory");
  }
  if (!share.ok()) RequireRefusal(share.status());
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ParseAnyThreshold)

}  // namespace footprint
