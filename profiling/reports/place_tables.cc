#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/leak_probability.h"

namespace footprint {
namespace {

const ReportColumn kFunction = {"function"};
const ReportColumn kWhere = {"where"};

bool IsSampled(const MeasuredRun& run) {
  return run.sampling_interval_bytes() > 0;
}

ReportValue SigmaValue(const Amount& amount) {
  return BytesValue(static_cast<int64_t>(SigmaBytes(amount)));
}

ReportTable PlaceTable(const char* heading, size_t text_rows) {
  ReportTable table;
  table.heading = heading;
  table.row_name = "place";
  table.text_rows = text_rows;
  table.sum_column = 0;
  return table;
}

// Returns the rows with a figure, largest first.
template <typename Figure>
std::vector<const SiteRow*> SortedBy(const std::vector<SiteRow>& rows,
                                     Figure figure) {
  std::vector<const SiteRow*> sorted;
  for (const SiteRow& row : rows) {
    if (figure(row) > 0) sorted.push_back(&row);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&figure](const SiteRow* a, const SiteRow* b) {
                     return figure(*a) > figure(*b);
                   });
  return sorted;
}

// Makes rows of the first `most`, and counts the others.
template <typename MakeCells, typename Figure>
void AddRows(const std::vector<const SiteRow*>& sorted, size_t most,
             MakeCells make_cells, Figure figure, ReportTable* table) {
  for (const SiteRow* each : sorted) {
    if (table->rows.size() == most) {
      ++table->other_count;
      table->other_sum = SaturatedSum(table->other_sum, figure(*each));
      continue;
    }
    ReportRow row;
    row.cells = make_cells(*each);
    AddPlace(each->frame, &row);
    table->rows.push_back(std::move(row));
  }
}

void AddPeakPlaces(const MeasuredRun& run, const MeasuredImage& image,
                   const std::vector<SiteRow>& rows,
                   const RunReportOptions& options, Report* report) {
  // Defines the columns.
  const bool is_sampled = IsSampled(run);
  const int64_t peak_bytes = image.peak_live_bytes();
  ReportTable table = PlaceTable("Lines of code at the peak", 12);
  table.columns = {{"at the peak", ReportUnit::kBytes},
                   {"share", ReportUnit::kShare},
                   {"sigma", ReportUnit::kBytes, !is_sampled},
                   {"blocks", ReportUnit::kCount, is_sampled},
                   {"allocated", ReportUnit::kBytes, true},
                   kFunction,
                   kWhere};
  const bool has_sources = options.source != nullptr;
  if (has_sources) table.columns.push_back(SourceColumn());
  table.compared = {{0, 2}};
  // Adds the places with the most bytes, as many as the options show.
  const auto at_peak = [](const SiteRow& row) { return row.at_peak.bytes(); };
  const std::vector<const SiteRow*> sorted = SortedBy(rows, at_peak);
  size_t shown = 0;
  while (shown < sorted.size() && shown < options.most_rows &&
         !options.memory_threshold.Hides(at_peak(*sorted[shown]), peak_bytes)) {
    ++shown;
  }
  AddRows(
      sorted, shown,
      [&](const SiteRow& row) -> std::vector<ReportValue> {
        return {BytesValue(row.at_peak.bytes()),
                ShareValue(row.at_peak.bytes(), peak_bytes),
                SigmaValue(row.at_peak), CountValue(row.at_peak.count()),
                BytesValue(row.allocated.bytes())};
      },
      at_peak, &table);
  if (has_sources) {
    for (size_t i = 0; i < table.rows.size(); ++i) {
      table.rows[i].cells.push_back(
          TextValue(options.source(sorted[i]->frame)));
    }
    DropEmptySources(&table);
  }
  // Says whether the figures are exact or estimates.
  const std::string interval =
      FormatRoundedBytes(run.sampling_interval_bytes());
  if (!is_sampled) {
    table.note = "each allocation was recorded: the rows add up to the peak";
  } else if (sorted.empty()) {
    table.note = absl::StrCat(
        "no call sites: no sampled block (one in ", interval,
        ") was live at the peak; --sampling=0 records each allocation");
  } else {
    table.note = absl::StrCat("estimated from a sample every ", interval,
                              "; --sampling=0 records each allocation");
  }
  report->tables.push_back(std::move(table));
}

void AddVolume(const MeasuredRun& run, const MeasuredImage& image,
               const std::vector<SiteRow>& rows, size_t most, Report* report) {
  ReportTable table = PlaceTable("Lines of code by volume", 12);
  table.is_detail = true;
  table.lead = "All that was allocated, however short it lived.";
  table.columns = {{"allocated", ReportUnit::kBytes},
                   {"share", ReportUnit::kShare},
                   {"sigma", ReportUnit::kBytes, !IsSampled(run)},
                   {"calls", ReportUnit::kCount},
                   {"at the peak", ReportUnit::kBytes},
                   kFunction,
                   kWhere};
  table.compared = {{0, 2}};
  const auto volume = [](const SiteRow& row) { return row.allocated.bytes(); };
  int64_t whole = 0;
  for (const SiteRow& row : rows) whole = SaturatedSum(whole, volume(row));
  if (image.has_totals()) whole = image.allocated_bytes();
  AddRows(
      SortedBy(rows, volume), most,
      [whole](const SiteRow& row) -> std::vector<ReportValue> {
        return {BytesValue(row.allocated.bytes()),
                ShareValue(row.allocated.bytes(), whole),
                SigmaValue(row.allocated), CountValue(row.allocated.count()),
                BytesValue(row.at_peak.bytes())};
      },
      volume, &table);
  if (!table.rows.empty()) report->tables.push_back(std::move(table));
}

void AddLeft(const MeasuredImage& image, const std::vector<SiteRow>& rows,
             size_t most, Report* report) {
  if (!image.has_totals() || image.live_bytes() <= 0) return;
  ReportTable table = PlaceTable("Left at exit", 5);
  table.columns = {{"left at exit", ReportUnit::kBytes},
                   {"share", ReportUnit::kShare, true},
                   {"blocks", ReportUnit::kCount},
                   kFunction,
                   kWhere};
  const auto left = [](const SiteRow& row) { return row.at_end.bytes(); };
  AddRows(
      SortedBy(rows, left), most,
      [&image](const SiteRow& row) -> std::vector<ReportValue> {
        return {BytesValue(row.at_end.bytes()),
                ShareValue(row.at_end.bytes(), image.live_bytes()),
                CountValue(row.at_end.count())};
      },
      left, &table);
  table.note =
      "blocks that a program keeps to its end on purpose stand here, too";
  if (!table.rows.empty()) report->tables.push_back(std::move(table));
}

void AddTemporary(const MeasuredRun& run, const std::vector<SiteRow>& rows,
                  size_t most, Report* report) {
  ReportTable table = PlaceTable("Temporary allocations", 5);
  table.columns = {{"temporary", ReportUnit::kCount},
                   {"of", ReportUnit::kCount},
                   {"share", ReportUnit::kShare, true},
                   {"allocated", ReportUnit::kBytes, true},
                   kFunction,
                   kWhere};
  const auto temporary = [](const SiteRow& row) { return row.temporary_count; };
  AddRows(
      SortedBy(rows, temporary), most,
      [](const SiteRow& row) -> std::vector<ReportValue> {
        return {CountValue(row.temporary_count),
                CountValue(row.allocated.count()),
                ShareValue(row.temporary_count, row.allocated.count()),
                BytesValue(row.allocated.bytes())};
      },
      temporary, &table);
  int64_t count = 0;
  for (const SiteRow& row : rows) count = SaturatedSum(count, temporary(row));
  table.note =
      absl::StrCat(FormatCount(count),
                   " in all were freed before their thread's next allocation",
                   IsSampled(run) ? ", estimated from the samples" : "");
  if (!table.rows.empty()) report->tables.push_back(std::move(table));
}

void AddLeaks(const MeasuredRun& run, const MeasuredImage& image,
              Report* report) {
  constexpr double kShareUnits = 1000;
  if (image.suspected_leaks().empty()) return;
  const CodePlaces places(run);
  ReportTable table = PlaceTable("Suspected leaks", 8);
  table.sum_column = ComparedColumn::kNone;
  table.columns = {{"suspected leak", ReportUnit::kShare},
                   {"live", ReportUnit::kBytes},
                   {"growth", ReportUnit::kBytesPerSecond},
                   kFunction,
                   kWhere};
  table.note = std::string(kLeakCaveat);
  table.note.pop_back();  // without the full stop
  for (const SuspectedLeak& leak : image.suspected_leaks()) {
    ReportRow row;
    row.cells = {
        ShareValue(static_cast<int64_t>(leak.probability() * kShareUnits + 0.5),
                   static_cast<int64_t>(kShareUnits)),
        BytesValue(leak.live_bytes()),
        RateValue(static_cast<int64_t>(leak.growth_bytes_per_s()))};
    AddPlace(places.FindShownFrame(places.OfCall(leak.call())), &row);
    table.rows.push_back(std::move(row));
  }
  report->tables.push_back(std::move(table));
}

}  // namespace

// The key has neither folder nor line: a rebuilt program may lie elsewhere, and
// its lines may have moved.
void AddPlace(const CodeFrame& frame, ReportRow* row) {
  row->cells.push_back(TextValue(frame.function()));
  row->cells.push_back(PathValue(DescribePlace(frame)));
  row->key = absl::StrCat(frame.function(), "\n", FileName(frame.file()), "\n",
                          FileName(frame.module()));
}

ReportColumn SourceColumn() {
  constexpr size_t kMostTextBytes = 44;
  return {"source", ReportUnit::kText, /*is_detail=*/false, kMostTextBytes,
          /*is_below_previous=*/true};
}

void DropEmptySources(ReportTable* table) {
  for (const ReportRow& row : table->rows) {
    if (!row.cells.back().text.empty()) return;
  }
  table->columns.pop_back();
  for (ReportRow& row : table->rows) row.cells.pop_back();
}

void AddPlaceTables(const MeasuredRun& run, const MeasuredImage& image,
                    const std::vector<SiteRow>& rows,
                    const RunReportOptions& options, Report* report) {
  if (image.has_sites()) {
    AddPeakPlaces(run, image, rows, options, report);
    AddCallPaths(run, image, rows, report);
    AddVolume(run, image, rows, options.most_rows, report);
  }
  AddLeaks(run, image, report);
  AddLeft(image, rows, options.most_rows, report);
  AddTemporary(run, rows, options.most_rows, report);
}

}  // namespace footprint
