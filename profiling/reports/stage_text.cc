#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"

namespace footprint {
namespace {

constexpr size_t kMaxStages = 16;
constexpr size_t kMaxNameBytes = 50;

size_t Depth(const MeasuredImage& image, int stage) {
  size_t depth = 0;
  for (uint32_t each = image.stages(stage).parent(); each != 0;
       each = image.stages(static_cast<int>(each)).parent()) {
    ++depth;
  }
  return depth;
}

// Of many, those with the highest peaks, in the order in which they began.
std::vector<int> ShownStages(const MeasuredImage& image) {
  std::vector<int> shown;
  for (int i = 1; i < image.stages_size(); ++i) shown.push_back(i);
  if (shown.size() <= kMaxStages) return shown;
  std::stable_sort(shown.begin(), shown.end(), [&image](int a, int b) {
    return image.stages(a).peak_live_bytes() >
           image.stages(b).peak_live_bytes();
  });
  shown.resize(kMaxStages);
  std::sort(shown.begin(), shown.end());
  return shown;
}

}  // namespace

std::string StageText(const MeasuredImage& image) {
  if (image.stages_size() < 2) return "";
  const std::vector<int> shown = ShownStages(image);
  TextTable table({{"stage"},
                   {"peak", TextTable::kFigures},
                   {"with all before", TextTable::kFigures},
                   {"allocated", TextTable::kFigures},
                   {"left", TextTable::kFigures},
                   {"time", TextTable::kFigures},
                   {"times", TextTable::kFigures}});
  std::vector<std::vector<std::string>> cells;
  for (int i : shown) {
    const StageFigures& stage = image.stages(i);
    cells.push_back(
        {absl::StrCat(
             std::string(2 * std::min<size_t>(Depth(image, i), 8), ' '),
             Shortened(stage.name(), kMaxNameBytes),
             stage.was_left_open() ? " (not ended)" : ""),
         FormatRoundedBytes(stage.peak_live_bytes()),
         FormatRoundedBytes(stage.peak_live_absolute_bytes()),
         FormatRoundedBytes(stage.allocated_bytes()),
         FormatRoundedBytes(stage.net_growth_bytes()),
         Seconds(stage.wall_time_ns()), FormatCount(stage.visit_count())});
  }
  std::string text = TableText(table, cells);
  const size_t others =
      static_cast<size_t>(image.stages_size()) - 1 - shown.size();
  if (others > 0) {
    absl::StrAppend(&text, "and ", others, " stages with lower peaks\n");
  }
  return text;
}

}  // namespace footprint
