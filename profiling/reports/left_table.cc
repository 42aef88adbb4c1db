#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"

namespace footprint {
namespace {

// Returns the index of the first stage of that name, or 0.
int FindStage(const MeasuredImage& image, const std::string& name) {
  for (int i = 1; i < image.stages_size(); ++i) {
    if (image.stages(i).name() == name) return i;
  }
  return 0;
}

bool IsInside(const MeasuredImage& image, int stage, int around) {
  while (stage > around) {
    stage = static_cast<int>(image.stages(stage).parent());
  }
  return stage == around;
}

// Returns for each stage whether its allocations are wanted. Without options
// these are the named stages. If the options name two stages, they are all
// stages that begin from the first one on and before the other.
std::vector<bool> ChooseStages(const MeasuredImage& image,
                               const RunReportOptions& options) {
  std::vector<bool> is_chosen(static_cast<size_t>(image.stages_size()));
  const int from = FindStage(image, options.left_from);
  const int until = FindStage(image, options.left_until);
  for (int i = 1; i < image.stages_size(); ++i) {
    const StageFigures& stage = image.stages(i);
    if (options.left_from.empty()) {
      is_chosen[static_cast<size_t>(i)] = stage.kind() == StageFigures::NAMED;
      continue;
    }
    const bool is_within =
        stage.begin_time_ns() >= image.stages(from).begin_time_ns() &&
        (until == 0 ||
         stage.begin_time_ns() < image.stages(until).begin_time_ns());
    is_chosen[static_cast<size_t>(i)] =
        from != 0 && (is_within || IsInside(image, i, from));
  }
  return is_chosen;
}

// The blocks of one place and one stage.
struct LeftRow {
  uint32_t stage = 0;
  uint32_t place = 0;
  Amount left;
};

std::vector<LeftRow> FindLeft(const MeasuredImage& image,
                              const CodePlaces& places,
                              const std::vector<bool>& is_chosen) {
  std::map<std::pair<uint32_t, uint32_t>, LeftRow> rows;
  for (const SiteAmounts& site : image.sites()) {
    if (site.stage() >= is_chosen.size() || !is_chosen[site.stage()] ||
        site.at_end().bytes() <= 0) {
      continue;
    }
    const uint32_t place = places.OfCall(site.call());
    LeftRow& row = rows[{site.stage(), place}];
    row.stage = site.stage();
    row.place = place;
    AddTo(site.at_end(), &row.left);
  }
  std::vector<LeftRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const LeftRow& a, const LeftRow& b) {
                     return a.left.bytes() > b.left.bytes();
                   });
  return sorted;
}

std::string DescribeStages(const RunReportOptions& options) {
  if (options.left_from.empty()) {
    return "allocated in the stage, and still there at the program's end";
  }
  return absl::StrCat(
      "allocated in stages that began from ",
      ShortenText(options.left_from, 60), " on",
      options.left_until.empty()
          ? ""
          : absl::StrCat(" and before ", ShortenText(options.left_until, 60)),
      ", and still there at the program's end");
}

}  // namespace

void AddLeftOfStages(const MeasuredRun& run, const MeasuredImage& image,
                     const RunReportOptions& options, Report* report) {
  for (const std::string& name : {options.left_from, options.left_until}) {
    if (name.empty() || FindStage(image, name) != 0) continue;
    report->warnings.push_back(
        {absl::StrCat("no stage is called ", ShortenText(name, 60),
                      ": the table of stages has their names")});
    return;
  }
  if (!image.has_sites() || !image.has_totals()) return;
  const CodePlaces places(run);
  const bool has_sources = options.source != nullptr;
  ReportTable table;
  table.heading = "Left by stages";
  table.row_name = "place";
  table.text_rows = 8;
  table.sum_column = 0;
  table.columns = {
      {"left by stage", ReportUnit::kBytes},
      {"sigma", ReportUnit::kBytes, run.sampling_interval_bytes() <= 0},
      {"blocks", ReportUnit::kCount},
      {"stage"},
      {"function"},
      {"where"}};
  if (has_sources) table.columns.push_back(SourceColumn());
  for (const LeftRow& left :
       FindLeft(image, places, ChooseStages(image, options))) {
    const CodeFrame& frame = places.FindShownFrame(left.place);
    ReportRow row;
    row.cells = {BytesValue(left.left.bytes()),
                 BytesValue(static_cast<int64_t>(SigmaBytes(left.left))),
                 CountValue(left.left.count()),
                 TextValue(StageName(image, left.stage))};
    AddPlace(frame, &row);
    if (has_sources) row.cells.push_back(TextValue(options.source(frame)));
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return;
  if (has_sources) DropEmptySources(&table);
  table.note = DescribeStages(options);
  report->tables.push_back(std::move(table));
}

}  // namespace footprint
