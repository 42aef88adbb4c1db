#include "footprint/profiling/reports/report_threshold.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/parse_bytes.h"

namespace footprint {

absl::StatusOr<ReportThreshold> ParseShareThreshold(absl::string_view text) {
  ReportThreshold threshold;
  if (!absl::EndsWith(text, "%") ||
      !absl::SimpleAtod(absl::StripSuffix(text, "%"), &threshold.percent) ||
      !(threshold.percent >= 0 && threshold.percent <= 100)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a threshold is a percentage, such as 1%, not ", text));
  }
  return threshold;
}

absl::StatusOr<ReportThreshold> ParseMemoryThreshold(absl::string_view text) {
  if (absl::EndsWith(text, "%")) return ParseShareThreshold(text);
  const absl::StatusOr<int64_t> bytes = ParseBytes(text);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a threshold is a percentage, such as 1%, or bytes, such "
                     "as 64KiB: ",
                     bytes.status().message()));
  }
  ReportThreshold threshold;
  threshold.amount = *bytes;
  return threshold;
}

}  // namespace footprint
