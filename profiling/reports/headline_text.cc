#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_owner.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {

namespace {

// Whose data is live at the peak.
std::string ShareText(const MeasuredRun& run, const MeasuredImage& image) {
  const PeakShares shares = PeakSharesOf(run, image);
  if (!shares.are_known) return "";
  int64_t all_bytes = 0;
  for (int64_t bytes : {shares.program_bytes, shares.libraries_bytes,
                        shares.interpreter_bytes, shares.unknown_bytes}) {
    all_bytes = SaturatedSum(all_bytes, bytes);
  }
  if (all_bytes <= 0) return "";
  std::string text;
  for (const auto& [bytes, owner] :
       {std::pair(shares.program_bytes, " the program's own data"),
        std::pair(shares.libraries_bytes, " libraries"),
        std::pair(shares.interpreter_bytes, " the interpreter"),
        std::pair(shares.unknown_bytes, " of no known call")}) {
    if (bytes <= 0) continue;
    absl::StrAppend(&text, text.empty() ? "           " : ", ",
                    Share(bytes, all_bytes), owner);
  }
  return absl::StrCat(text, "\n");
}

// Each process's pages by themselves would count what they share as often.
std::string ResidentText(const MeasuredRun& run) {
  const int64_t bytes = ResidentTogetherBytes(run);
  if (bytes == 0) {
    return "resident   not measured: the program ended before it was looked "
           "at, or /proc could not be read\n";
  }
  const bool has_several =
      run.images_size() > 1 || run.unrecorded_process_count() > 0;
  if (!has_several) {
    return absl::StrCat("resident   ", FormatBytes(bytes), " at most\n");
  }
  std::string text = absl::StrCat(
      "resident   ", FormatBytes(bytes),
      " at most at once, all processes together, shared pages once\n");
  if (run.peak_resident_sum_bytes() > bytes) {
    absl::StrAppend(&text, "           ",
                    FormatRoundedBytes(run.peak_resident_sum_bytes()),
                    " as the sum of what each has, shared pages once a "
                    "process\n");
  }
  return text;
}

// A fork has its parent's blocks, too: all figures of a process are with them,
// but for what it is judged by.
std::string InheritedText(const MeasuredImage& image) {
  if (image.inherited_live_bytes() == 0) return "";
  return absl::StrCat("           ", FormatRoundedBytes(OwnPeakBytes(image)),
                      " of it its own, beyond the ",
                      FormatRoundedBytes(image.inherited_live_bytes()),
                      " that it had from its parent by fork; shares are of all "
                      "of it, --limit judges its own\n");
}

}  // namespace

std::string HeadlineText(const MeasuredRun& run, const MeasuredImage& image) {
  constexpr size_t kMaxCommandBytes = 60;
  const bool has_children = run.images_size() > 1;
  std::string text = absl::StrCat(
      "peak heap  ", FormatBytes(image.peak_live_bytes()), ", after ",
      Seconds(std::max<int64_t>(0, image.peak_time_ns() - BeginTimeNs(run))),
      " of ", Seconds(run.wall_time_ns()), "\n");
  if (has_children) {
    absl::StrAppend(&text, "           in process ", image.process_id(), ": ",
                    ShortCommand(image, kMaxCommandBytes), "\n");
  }
  absl::StrAppend(&text, InheritedText(image), ShareText(run, image),
                  ResidentText(run));
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
