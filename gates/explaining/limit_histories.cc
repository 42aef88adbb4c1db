#include "footprint/gates/explaining/limit_histories.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/page/line_chart.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/gates/explaining/explanation_report.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/judge/threshold_numbers.h"

namespace footprint {
namespace {

using Points = std::vector<std::pair<double, double>>;

// These limits keep the page small enough for a browser to open at once.
constexpr size_t kMostHistories = 300;
constexpr size_t kMostLines = 8;

struct History {
  std::string location;
  const Threshold* threshold;
  Points points;
};

// Returns the limit after each change, and at 0 its first value.
Points FindPoints(const Threshold& threshold) {
  Points points;
  for (const HistoryEntry& entry : threshold.history()) {
    if (!entry.has_new_value()) continue;
    if (points.empty() && entry.has_old_value()) {
      points.push_back({0, static_cast<double>(entry.old_value())});
    }
    points.push_back({static_cast<double>(points.size()),
                      static_cast<double>(entry.new_value())});
  }
  return points;
}

// Returns the total change of the limit as a share of its first value.
double ComputeChange(const History& history) {
  if (history.points.empty()) return 0;
  const double first = history.points.front().second;
  return first > 0 ? history.points.back().second / first - 1 : 0;
}

std::vector<History> FindMovedLimits(const GateInput& input) {
  std::vector<History> moved;
  for (const ThresholdSource& source : input.thresholds) {
    for (int i = 0; i < source.file.threshold_size(); ++i) {
      const Threshold& threshold = source.file.threshold(i);
      Points points = FindPoints(threshold);
      if (threshold.history_size() <= 1 && points.size() <= 1) continue;
      moved.push_back(
          {source.DescribeLocation(i), &threshold, std::move(points)});
    }
  }
  std::stable_sort(
      moved.begin(), moved.end(), [](const History& a, const History& b) {
        return std::fabs(ComputeChange(a)) > std::fabs(ComputeChange(b));
      });
  return moved;
}

LineChart MakeChart(const std::vector<History>& moved) {
  LineChart chart;
  chart.title = "The limits that moved most";
  chart.description = "Each as a share of its first value.";
  chart.x_label = "changes";
  chart.y_label = "share of the first value";
  chart.may_leave_zero_out = true;
  chart.format_x = [](double x) {
    return x == std::round(x) ? absl::StrFormat("%.0f", x) : "";
  };
  chart.format_y = [](double y) { return absl::StrFormat("%.0f %%", y); };
  for (const History& history : moved) {
    Points points = history.points;
    if (points.size() < 2 || points[0].second <= 0) continue;
    const double first = points[0].second;
    for (auto& point : points) point.second *= 100 / first;
    chart.lines.push_back({FileNameAndLine(history.location), points});
    if (chart.lines.size() == kMostLines) break;
  }
  return chart;
}

PageTable MakeTable(const std::vector<History>& moved) {
  PageTable table;
  table.caption = "Every change, of the limit that moved most first";
  table.header = {"limit", "change", "reason"};
  table.text_columns = 3;
  table.wraps_text = true;
  for (size_t i = 0; i < std::min(moved.size(), kMostHistories); ++i) {
    for (const HistoryEntry& entry : moved[i].threshold->history()) {
      HistoryEntry numbers = entry;
      numbers.clear_reason();
      table.rows.push_back(
          {moved[i].location,
           DescribeHistoryEntry(numbers, moved[i].threshold->metric()),
           entry.reason()});
    }
  }
  return table;
}

}  // namespace

void AddLimitHistories(const GateInput& input, Page* page) {
  const std::vector<History> moved = FindMovedLimits(input);
  if (moved.empty()) return;
  page->AddSection("How limits moved");
  const LineChart chart = MakeChart(moved);
  if (!chart.lines.empty()) page->AddLineChart(chart);
  PageContent content;
  content.AddTable(MakeTable(moved));
  const size_t shown = std::min(moved.size(), kMostHistories);
  page->AddFold(absl::StrCat(FormatCount(static_cast<int64_t>(shown)), " of ",
                             FormatCount(static_cast<int64_t>(moved.size())),
                             " limits that moved, with every change and its "
                             "reason"),
                content);
}

// The chart shows this short form; the table has the whole path.
std::string FileNameAndLine(const std::string& location) {
  return location.substr(location.rfind('/') + 1);
}

}  // namespace footprint
