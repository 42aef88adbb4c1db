#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
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

// A shell's script may start hundreds, each of some KiB.
constexpr size_t kMostShown = 24;

int64_t Need(const MeasuredImage& image) {
  return std::max(OwnPeakBytes(image), image.peak_resident_bytes());
}

bool EndedAsPlanned(const MeasuredImage& image) {
  return image.end() == MeasuredImage::EXITED ||
         image.end() == MeasuredImage::EXITED_AT_ONCE ||
         image.end() == MeasuredImage::BECAME_ANOTHER;
}

// Those that needed most, and all whose end is worth knowing.
std::vector<bool> ShownImages(const MeasuredRun& run) {
  std::vector<int> by_need(static_cast<size_t>(run.images_size()));
  std::iota(by_need.begin(), by_need.end(), 0);
  std::stable_sort(by_need.begin(), by_need.end(), [&run](int a, int b) {
    return Need(run.images(a)) > Need(run.images(b));
  });
  std::vector<bool> is_shown(by_need.size());
  for (size_t rank = 0; rank < by_need.size(); ++rank) {
    is_shown[static_cast<size_t>(by_need[rank])] =
        rank < kMostShown || !EndedAsPlanned(run.images(by_need[rank]));
  }
  return is_shown;
}

}  // namespace

std::string ProcessText(const MeasuredRun& run) {
  constexpr size_t kMaxCommandBytes = 60;
  if (run.images_size() < 2) return "";
  const std::vector<bool> is_shown = ShownImages(run);
  TextTable table({{"process", TextTable::kFigures},
                   {"parent", TextTable::kFigures},
                   {"began", TextTable::kFigures},
                   // Of a fork, beyond what its parent had.
                   {"own peak", TextTable::kFigures},
                   {"resident", TextTable::kFigures},
                   {"end"},
                   {"command"}});
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < run.images_size(); ++i) {
    if (!is_shown[static_cast<size_t>(i)]) continue;
    const MeasuredImage& each = run.images(i);
    rows.push_back({absl::StrCat(each.process_id()),
                    absl::StrCat(each.parent_process_id()),
                    Seconds(each.begin_time_ns() - BeginTimeNs(run)),
                    FormatRoundedBytes(OwnPeakBytes(each)),
                    each.peak_resident_bytes() == 0
                        ? "-"
                        : FormatRoundedBytes(each.peak_resident_bytes()),
                    EndText(each.end()), ShortCommand(each, kMaxCommandBytes)});
  }
  std::string text = TableText(table, rows);
  if (rows.size() < is_shown.size()) {
    absl::StrAppend(
        &text, "and ",
        FormatCount(static_cast<int64_t>(is_shown.size() - rows.size())),
        " that needed less; --json=FILE has all\n");
  }
  return text;
}

}  // namespace footprint
