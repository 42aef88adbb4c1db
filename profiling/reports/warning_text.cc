#include <cstring>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/reports/unaccounted_memory.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

constexpr size_t kMaxCommandBytes = 60;

std::string OfProcess(const MeasuredImage& image) {
  std::string text;
  if (!IsCounted(image)) {
    absl::StrAppend(
        &text, "warning    process ", image.process_id(), " (",
        ShortCommand(image, kMaxCommandBytes),
        image.has_foreign_new()
            ? ") has an operator new of its own: what that hands out "
              "may not be counted\n"
            : ") allocated nothing by malloc: does it have an "
              "allocator of its own?\n");
  }
  if (image.lost_child_count() > 0) {
    absl::StrAppend(&text, "warning    ", FormatCount(image.lost_child_count()),
                    image.lost_child_count() == 1 ? " child" : " children",
                    " of process ", image.process_id(), " (",
                    ShortCommand(image, kMaxCommandBytes),
                    ") could not be measured: no room in TMPDIR, or a limit "
                    "of file sizes (ulimit -f)\n");
  }
  if (IsCounted(image) && HeapTellsTooLittle(image)) {
    absl::StrAppend(
        &text, "warning    the heap of process ", image.process_id(), " (",
        ShortCommand(image, kMaxCommandBytes), ") leaves out ",
        FormatRoundedBytes(BytesBeyondHeap(image)), " of ",
        FormatRoundedBytes(PeakAnonymousBytes(image)),
        ": memory that does not come from malloc, as of a collector or an "
        "allocator of its own; --limit judges the resident set\n");
  }
  for (const std::string& note : image.notes()) {
    absl::StrAppend(&text, "note       ", EscapeForTerminal(note), "\n");
  }
  return text;
}

std::string OfUnrecorded(const MeasuredRun& run) {
  constexpr int kMostNames = 4;
  const int count = run.unrecorded_process_count();
  if (count == 0) return "";
  std::string names;
  for (int i = 0; i < run.unrecorded_programs_size(); ++i) {
    if (i == kMostNames) {
      absl::StrAppend(&names, ", ...");
      break;
    }
    absl::StrAppend(&names, i == 0 ? "" : ", ",
                    EscapeForTerminal(run.unrecorded_programs(i)));
  }
  return absl::StrCat(
      "warning    ", FormatCount(count),
      count == 1 ? " process (" : " processes (", names,
      ") left no record and ", count == 1 ? "is" : "are",
      " in no figure: started without LD_PRELOAD (env -i), static, or "
      "set-user-ID\n");
}

std::string OfSignal(const MeasuredRun& run) {
  if (run.signal_number() == 0) return "";
  return absl::StrCat("warning    the program was killed by signal ",
                      run.signal_number(), " (", strsignal(run.signal_number()),
                      "): the figures are of the time until then\n");
}

}  // namespace

std::string WarningText(const MeasuredRun& run, const MeasuredImage& image) {
  std::string text = OfSignal(run);
  for (const MeasuredImage& each : run.images()) {
    absl::StrAppend(&text, OfProcess(each));
  }
  absl::StrAppend(&text, OfUnrecorded(run));
  if (run.sampling_interval_bytes() >= 0 && !image.has_sites()) {
    absl::StrAppend(&text,
                    "warning    call sites were not recorded: no room in "
                    "TMPDIR, or a limit of file sizes (ulimit -f)\n");
  } else if (image.sites_are_incomplete()) {
    absl::StrAppend(&text,
                    "warning    some call sites found no room: their bytes "
                    "stand at the outer calls of their stack, or under "
                    "[before the agent began]\n");
  }
  return text;
}

}  // namespace footprint
