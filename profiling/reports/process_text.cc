#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

std::string EndText(MeasuredImage::End end) {
  switch (end) {
    case MeasuredImage::EXITED:
    case MeasuredImage::EXITED_AT_ONCE:
      return "exit";
    case MeasuredImage::KILLED:
      return "killed";
    case MeasuredImage::BECAME_ANOTHER:
      return "exec";
    case MeasuredImage::RUNS_ON:
      return "runs on";
    default:
      return "unknown";
  }
}

}  // namespace

std::string ProcessText(const MeasuredRun& run) {
  constexpr size_t kMaxCommandBytes = 60;
  if (run.images_size() < 2) return "";
  TextTable table({{"process", TextTable::kFigures},
                   {"parent", TextTable::kFigures},
                   {"began", TextTable::kFigures},
                   {"peak heap", TextTable::kFigures},
                   {"resident", TextTable::kFigures},
                   {"end"},
                   {"command"}});
  std::vector<std::vector<std::string>> rows;
  for (const MeasuredImage& each : run.images()) {
    rows.push_back({absl::StrCat(each.process_id()),
                    absl::StrCat(each.parent_process_id()),
                    Seconds(each.begin_time_ns() - BeginTimeNs(run)),
                    FormatRoundedBytes(OwnPeakBytes(each)),
                    each.peak_resident_bytes() == 0
                        ? "-"
                        : FormatRoundedBytes(each.peak_resident_bytes()),
                    EndText(each.end()), ShortCommand(each, kMaxCommandBytes)});
    table.Fit(rows.back());
  }
  std::string text = table.Headings();
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&text, table.Row(row));
  }
  return text;
}

}  // namespace footprint
