#include "footprint/gates/bundles/packing.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {

absl::Status NotePackedBytes(const PackingOptions& options,
                             int64_t packed_bytes, int64_t all_bytes,
                             int64_t archive_bytes) {
  if (options.report_bytes) options.report_bytes(packed_bytes, all_bytes);
  if (options.limits.is_stopped && options.limits.is_stopped()) {
    return absl::CancelledError("the packing was stopped");
  }
  if (archive_bytes <= options.limits.archive_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the archive gets larger than ",
      FormatBytes(options.limits.archive_bytes),
      ", the most that is taken; leave out what the program does not read, or "
      "raise --most_bundle of `serve` or `try`"));
}

}  // namespace footprint
