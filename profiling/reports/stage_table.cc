#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/records/run_metric_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/schema/metric_kind.h"

namespace footprint {
namespace {

// There may be hundreds of imports and files that need less than this share.
constexpr double kLeastShare = 0.005;

constexpr bool HasShare(const char* column) { return column != nullptr; }

ReportUnit ReportUnitOf(MetricKind kind) {
  return UnitOfMetric(kind) == MetricUnit::kBytes ? ReportUnit::kBytes
                                                  : ReportUnit::kCount;
}

// Returns the stage's name, and what a reader of its figures must know.
std::string MakeTitle(const StageFigures& stage) {
  std::string title =
      absl::StrCat(stage.kind() == StageFigures::IMPORT ? "import "
                   : stage.kind() == StageFigures::FILE ? "file "
                                                        : "",
                   ShortenText(stage.name(), 60));
  if (stage.was_left_open()) absl::StrAppend(&title, " (left open)");
  if (stage.is_inherited()) absl::StrAppend(&title, " (begun by the parent)");
  if (stage.lacks_last_visit()) {
    absl::StrAppend(&title, " (without its last visit)");
  }
  if (stage.unmeasured_visit_count() > 0) {
    absl::StrAppend(&title, " (", FormatCount(stage.unmeasured_visit_count()),
                    " visits not measured: too many were open)");
  }
  return title;
}

// The stages of one process as rows of a tree, sorted by their peaks.
class StageTree {
 public:
  StageTree(const MeasuredImage& image, bool has_small_stages,
            ReportTable* table)
      : image_(image),
        has_small_stages_(has_small_stages),
        table_(table),
        inside_(static_cast<size_t>(image.stages_size())),
        at_peak_(inside_.size()) {
    for (int i = 1; i < image.stages_size(); ++i) {
      inside_[image.stages(i).parent()].push_back(i);
    }
    for (std::vector<int>& stages : inside_) {
      std::stable_sort(stages.begin(), stages.end(), [&](int a, int b) {
        return image.stages(a).peak_live_bytes() >
               image.stages(b).peak_live_bytes();
      });
    }
    for (const SiteAmounts& site : image.sites()) {
      if (site.stage() < at_peak_.size()) {
        at_peak_[site.stage()] =
            SaturatedSum(at_peak_[site.stage()], site.at_peak().bytes());
      }
    }
  }

  // Stages stand behind their parents, so the recursion ends.
  void AddInside(size_t parent, size_t depth) {
    for (int number : inside_[parent]) {
      if (IsShown(number)) {
        AddRow(number, depth);
      } else {
        ++table_->other_count;
      }
      AddInside(static_cast<size_t>(number), depth + 1);
    }
  }

 private:
  bool IsShown(int number) const {
    const StageFigures& stage = image_.stages(number);
    return has_small_stages_ || stage.kind() == StageFigures::NAMED ||
           static_cast<double>(
               std::max(stage.peak_live_bytes(), stage.allocated_bytes())) >=
               kLeastShare * static_cast<double>(image_.peak_live_bytes()) ||
           !inside_[static_cast<size_t>(number)].empty();
  }

  void AddRow(int number, size_t depth) {
    const StageFigures& stage = image_.stages(number);
    ReportRow row;
    row.depth = depth;
    row.key = StageName(image_, static_cast<size_t>(number));
    const MeasuredImage& image = image_;
#define FOOTPRINT_CELLS(field, member, is_highest, kind, column, is_detail, \
                        share, whole)                                       \
  row.cells.push_back({ReportUnitOf(kind), stage.field()});                 \
  if (HasShare(share)) row.cells.push_back(ShareValue(stage.field(), whole));
    FOOTPRINT_STAGE_METRICS(FOOTPRINT_CELLS)
#undef FOOTPRINT_CELLS
    row.cells.insert(
        row.cells.end(),
        {BytesValue(at_peak_[static_cast<size_t>(number)]),
         CountValue(stage.visit_count()), TimeValue(stage.wall_time_ns()),
         TextValue(MakeTitle(stage))});
    table_->rows.push_back(std::move(row));
  }

  const MeasuredImage& image_;
  const bool has_small_stages_;
  ReportTable* const table_;
  std::vector<std::vector<int>> inside_;
  // The bytes of the process's peak that were allocated in the stage.
  std::vector<int64_t> at_peak_;
};

}  // namespace

void AddStageTable(const MeasuredImage& image, const RunReportOptions& options,
                   Report* report) {
  if (image.stages_size() < 2) return;
  ReportTable table;
  table.heading = "Stages";
  table.row_name = "stage";
  table.text_rows = 24;
#define FOOTPRINT_COLUMNS(field, member, is_highest, kind, column, is_detail, \
                          share, whole)                                       \
  if (!is_detail) {                                                           \
    table.compared.push_back({table.columns.size(), ComparedColumn::kNone,    \
                              is_highest, !table.compared.empty()});          \
  }                                                                           \
  table.columns.push_back({column, ReportUnitOf(kind), is_detail});           \
  if (HasShare(share)) table.columns.push_back({share, ReportUnit::kShare});
  FOOTPRINT_STAGE_METRICS(FOOTPRINT_COLUMNS)
#undef FOOTPRINT_COLUMNS
  table.columns.insert(table.columns.end(),
                       {{"live at the peak", ReportUnit::kBytes, true},
                        {"visits", ReportUnit::kCount},
                        {"time", ReportUnit::kNanoseconds},
                        {"stage"}});
  table.note =
      "figures are exact; \"peak above\" is the most that was live above the "
      "bytes at a visit's begin; shares are of the process's peak and of all "
      "its allocated bytes";
  StageTree(image, options.has_small_stages, &table).AddInside(0, 0);
  report->tables.push_back(std::move(table));
}

}  // namespace footprint
