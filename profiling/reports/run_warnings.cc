#include <cstring>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/reports/unaccounted_memory.h"
#include "footprint/profiling/runs/uncounted_heap.h"

namespace footprint {
namespace {

constexpr size_t kMaxCommandBytes = 60;

std::string DescribeProcess(const MeasuredImage& image) {
  return absl::StrCat("process ", image.process_id(), " (",
                      ShortCommand(image, kMaxCommandBytes), ")");
}

void Warn(const std::string& text, Report* report) {
  report->warnings.push_back({text});
}

void WarnOfEnd(const MeasuredRun& run, Report* report) {
  if (run.signal_number() != 0) {
    Warn(absl::StrCat("the program was killed by signal ", run.signal_number(),
                      " (", strsignal(run.signal_number()),
                      "): the figures are of the time until then"),
         report);
  } else if (run.exit_status() != 0) {
    report->warnings.push_back(
        {absl::StrCat("the program failed: exit status ", run.exit_status()),
         /*is_note=*/true});
  }
}

void WarnOfProcess(const MeasuredImage& image, Report* report) {
  if (!IsCounted(image)) {
    Warn(
        absl::StrCat(DescribeProcess(image), " ", DescribeUncountedHeap(image)),
        report);
  }
  if (image.lost_child_count() > 0) {
    Warn(absl::StrCat(
             FormatCount(image.lost_child_count()),
             image.lost_child_count() == 1 ? " child of " : " children of ",
             DescribeProcess(image),
             " could not be measured: no room in TMPDIR, or a limit "
             "of file sizes (ulimit -f)"),
         report);
  }
  if (IsCounted(image) && HeapTellsTooLittle(image)) {
    Warn(absl::StrCat(
             "the heap of ", DescribeProcess(image), " leaves out ",
             FormatRoundedBytes(BytesBeyondHeap(image)), " of ",
             FormatRoundedBytes(PeakAnonymousBytes(image)),
             ": memory that does not come from malloc, as of a collector or "
             "an allocator of its own; --limit judges the resident set"),
         report);
  }
  for (const std::string& note : image.notes()) {
    report->warnings.push_back({EscapeForTerminal(note), /*is_note=*/true});
  }
}

void WarnOfContainer(const ContainerNeeds& needs, Report* report) {
  if (needs.tried().empty() || needs.held()) return;
  Warn(EscapeForTerminal(needs.tried()), report);
}

void WarnOfUnrecorded(const MeasuredRun& run, Report* report) {
  constexpr int kMostNames = 4;
  const int count = run.unrecorded_process_count();
  if (count == 0) return;
  std::string names;
  for (int i = 0; i < run.unrecorded_programs_size(); ++i) {
    if (i == kMostNames) {
      absl::StrAppend(&names, ", ...");
      break;
    }
    absl::StrAppend(&names, i == 0 ? "" : ", ",
                    EscapeForTerminal(run.unrecorded_programs(i)));
  }
  Warn(absl::StrCat(CountRows(count, "process"), " (", names,
                    ") left no record and ", count == 1 ? "is" : "are",
                    " in no figure: started without LD_PRELOAD (env -i), "
                    "static, or set-user-ID"),
       report);
}

void WarnOfLostRecords(const MeasuredRun& run, Report* report) {
  if (!run.has_lost_records()) return;
  Warn(
      "the program removed the folder of its records, so processes that began "
      "later are in no figure",
      report);
}

}  // namespace

void AddRunWarnings(const MeasuredRun& run, const MeasuredImage& image,
                    Report* report) {
  WarnOfEnd(run, report);
  for (const MeasuredImage& each : run.images()) WarnOfProcess(each, report);
  WarnOfUnrecorded(run, report);
  WarnOfLostRecords(run, report);
  WarnOfContainer(run.container_needs(), report);
  if (run.sampling_interval_bytes() >= 0 && !image.has_sites()) {
    Warn(
        "call sites were not recorded: no room in TMPDIR, or a limit of file "
        "sizes (ulimit -f)",
        report);
  } else if (image.sites_are_incomplete()) {
    Warn(
        "some call sites could not be stored: their bytes count at the outer "
        "calls of their stack, or under [before the agent began]",
        report);
  }
}

}  // namespace footprint
