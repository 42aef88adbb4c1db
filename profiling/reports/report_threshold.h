// The smallest figure that a report shows: a share of the whole, or an amount.
//
//   absl::StatusOr<ReportThreshold> threshold = ParseMemoryThreshold("1%");
//   threshold->Hides(row.at_peak.bytes(), peak_bytes);
//
// Pure; thread-safe. A value of 16 bytes; only an error's text allocates.

#ifndef FOOTPRINT_PROFILING_REPORTS_REPORT_THRESHOLD_H_
#define FOOTPRINT_PROFILING_REPORTS_REPORT_THRESHOLD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct ReportThreshold {
  double percent = 0;  // of the whole, 0 to 100
  int64_t amount = 0;

  // Returns whether `part` of `whole` is below the threshold.
  bool Hides(int64_t part, int64_t whole) const {
    // The quotient is rounded as the percentage was when it was parsed, so a
    // part of exactly the percentage is equal.
    return part < amount ||
           100 * static_cast<double>(part) / static_cast<double>(whole) <
               percent;
  }
};

// Parses a percentage, "2.5%", or bytes, "64KiB". Returns kInvalidArgument for
// other texts.
absl::StatusOr<ReportThreshold> ParseMemoryThreshold(absl::string_view text);

// Parses a percentage. Returns kInvalidArgument for other texts.
absl::StatusOr<ReportThreshold> ParseShareThreshold(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_REPORT_THRESHOLD_H_
