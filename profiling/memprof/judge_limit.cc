#include "footprint/profiling/memprof/judge_limit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/unaccounted_memory.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/uncounted_heap.h"

namespace footprint {
namespace {

constexpr int kFits = 0;
constexpr int kDoesNotFit = 1;
constexpr int kCannotBeJudged = 3;

bool IsAllCounted(const MeasuredRun& run) {
  return !run.images().empty() && run.unrecorded_process_count() == 0 &&
         !run.has_lost_records() &&
         std::all_of(run.images().begin(), run.images().end(),
                     [](const MeasuredImage& image) {
                       return IsCounted(image) && image.lost_child_count() == 0;
                     });
}

std::string ResidentIsJudged(const MeasuredImage& image) {
  constexpr size_t kMaxCommandBytes = 60;
  return absl::StrCat("memprof: the heap of process ", image.process_id(), " (",
                      ShortCommand(image, kMaxCommandBytes), ") leaves out ",
                      FormatBytes(BytesBeyondHeap(image)),
                      ", so its resident set is judged: ",
                      FormatBytes(PeakResidentBytes(image)), "\n");
}

}  // namespace

LimitJudgement JudgeLimit(const MeasuredRun& run, int64_t limit_bytes) {
  if (run.exit_status() != 0 || run.signal_number() != 0) {
    return {kCannotBeJudged,
            "memprof: the program failed, so its peak is not judged\n"};
  }
  if (!IsAllCounted(run)) {
    return {kCannotBeJudged,
            "memprof: not everything was counted (see the warning), so "
            "nothing is judged\n"};
  }
  LimitJudgement judgement;
  int64_t peak_bytes = 0;
  for (const MeasuredImage& each : run.images()) {
    if (HeapTellsTooLittle(each)) {
      judgement.text += ResidentIsJudged(each);
      peak_bytes = std::max(peak_bytes, PeakResidentBytes(each));
    } else {
      peak_bytes = std::max(peak_bytes, OwnPeakBytes(each));
    }
  }
  if (peak_bytes <= limit_bytes) {
    judgement.exit_status = kFits;
    return judgement;
  }
  judgement.exit_status = kDoesNotFit;
  absl::StrAppend(
      &judgement.text, "memprof: over the limit of ", FormatBytes(limit_bytes),
      " by ", FormatBytes(SaturatedDifference(peak_bytes, limit_bytes)), "\n");
  return judgement;
}

}  // namespace footprint
