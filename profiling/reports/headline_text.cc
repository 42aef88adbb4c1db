#include <algorithm>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {

std::string HeadlineText(const MeasuredRun& run, const MeasuredImage& image) {
  constexpr size_t kMaxCommandBytes = 60;
  const bool has_children = run.images_size() > 1;
  std::string text = absl::StrCat(
      "peak heap  ", FormatBytes(OwnPeakBytes(image)), ", after ",
      Seconds(std::max<int64_t>(0, image.peak_time_ns() - BeginTimeNs(run))),
      " of ", Seconds(run.wall_time_ns()), "\n");
  if (has_children) {
    absl::StrAppend(&text, "           in process ", image.process_id(), ": ",
                    ShortCommand(image, kMaxCommandBytes), "\n");
  }
  absl::StrAppend(&text, "resident   ",
                  FormatBytes(std::max(run.peak_resident_sum_bytes(),
                                       image.peak_resident_bytes())),
                  has_children ? " at most at once, all processes together\n"
                               : " at most\n");
  if (image.peak_mapped_bytes() > 0) {
    absl::StrAppend(&text, "mapped     ",
                    FormatBytes(image.peak_mapped_bytes()),
                    " of addresses by the program itself\n");
  }
  if (image.has_totals()) {
    absl::StrAppend(&text, "allocated  ", FormatBytes(image.allocated_bytes()),
                    " in ", FormatCount(image.allocation_count()),
                    " calls; left at the end ", FormatBytes(image.live_bytes()),
                    "\n");
  }
  return text;
}

}  // namespace footprint
