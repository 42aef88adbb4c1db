#include "footprint/base/report/compare_reports.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/memory/saturated_sum.h"

namespace footprint {
namespace {

constexpr double kSureSigmas = 2;

ReportValue ComputeChange(ReportUnit unit, int64_t before, int64_t after) {
  ReportValue change;
  change.unit = unit;
  change.number = SaturatedDifference(after, before);
  change.is_change = true;
  return change;
}

ReportValue ShareOfChange(int64_t before, int64_t after) {
  ReportValue share = ShareValue(SaturatedDifference(after, before), before);
  share.is_change = true;
  return share;
}

ReportValue MakeValue(ReportUnit unit, int64_t number) {
  ReportValue value;
  value.unit = unit;
  value.number = number;
  return value;
}

const ReportValue& ComparedValue(const ReportFigure& figure) {
  return figure.compared.is_known() ? figure.compared : figure.value;
}

const ReportFigure* FindFigure(const Report& report, const std::string& name) {
  for (const ReportFigure& figure : report.figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

bool HasNumber(const ReportValue& value) {
  return value.unit == ReportUnit::kBytes || value.unit == ReportUnit::kCount ||
         value.unit == ReportUnit::kNanoseconds;
}

// Returns null if the figure is unknown or not a number.
const ReportValue* FindNumber(const Report& report, const std::string& name) {
  const ReportFigure* const figure = FindFigure(report, name);
  return figure != nullptr && HasNumber(ComparedValue(*figure))
             ? &ComparedValue(*figure)
             : nullptr;
}

// Adds a row for a figure. If one of the values is unknown, so is the change.
void AddFigureRow(const std::string& name, const ReportValue* before,
                  const ReportValue* after, ReportTable* table) {
  if (before == nullptr && after == nullptr) return;
  ReportRow row;
  row.key = name;
  if (before == nullptr || after == nullptr) {
    row.cells = {ReportValue(), ReportValue(),
                 before == nullptr ? ReportValue() : *before,
                 after == nullptr ? ReportValue() : *after, TextValue(name)};
  } else if (before->number == 0 && after->number == 0) {
    return;
  } else {
    row.cells = {ComputeChange(after->unit, before->number, after->number),
                 ShareOfChange(before->number, after->number), *before, *after,
                 TextValue(name)};
  }
  table->rows.push_back(std::move(row));
}

ReportTable FigureChanges(const Report& before, const Report& after) {
  ReportTable table;
  table.heading = "Figures";
  table.columns = {{"change", ReportUnit::kBytes},
                   {"by", ReportUnit::kShare},
                   {"before", ReportUnit::kBytes},
                   {"after", ReportUnit::kBytes},
                   {"figure"}};
  for (const ReportFigure& figure : after.figures) {
    AddFigureRow(figure.name, FindNumber(before, figure.name),
                 FindNumber(after, figure.name), &table);
  }
  for (const ReportFigure& figure : before.figures) {
    // The loop above has the figures of the later report.
    if (FindFigure(after, figure.name) == nullptr) {
      AddFigureRow(figure.name, FindNumber(before, figure.name), nullptr,
                   &table);
    }
  }
  table.text_rows = table.rows.size();
  return table;
}

// The sums of the rows of one key in both reports.
struct JoinedRow {
  int64_t before = 0;
  int64_t after = 0;
  double variance_before = 0;
  double variance_after = 0;
  // The row of the later report if both have it.
  const ReportRow* row = nullptr;

  int64_t change() const { return SaturatedDifference(after, before); }
  double sigma() const { return std::sqrt(variance_before + variance_after); }
  bool is_sure() const {
    return std::abs(static_cast<double>(change())) > kSureSigmas * sigma();
  }
};

using JoinedRows = std::map<std::string, JoinedRow>;

// Adds the rows of a table to the sums of one of the two reports.
void JoinRows(const ReportTable& table, const ComparedColumn& compared,
              int64_t JoinedRow::*number, double JoinedRow::*variance,
              JoinedRows* joined) {
  for (const ReportRow& row : table.rows) {
    JoinedRow& into = (*joined)[row.key];
    into.row = &row;
    const int64_t value = row.cells[compared.column].number;
    into.*number = compared.takes_largest ? std::max(into.*number, value)
                                          : SaturatedSum(into.*number, value);
    if (compared.sigma_column == ComparedColumn::kNone) continue;
    const auto sigma =
        static_cast<double>(row.cells[compared.sigma_column].number);
    into.*variance += sigma * sigma;
  }
}

// Returns the changes above two standard deviations, the largest first.
std::vector<JoinedRow> SureChanges(const JoinedRows& joined,
                                   int64_t* unsure_count) {
  std::vector<JoinedRow> changes;
  for (const auto& [key, row] : joined) {
    if (row.change() == 0) continue;
    if (row.is_sure()) {
      changes.push_back(row);
    } else {
      ++*unsure_count;
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const JoinedRow& a, const JoinedRow& b) {
                     return std::abs(static_cast<double>(a.change())) >
                            std::abs(static_cast<double>(b.change()));
                   });
  return changes;
}

std::string ChangeNote(const ReportTable& table, bool is_empty,
                       int64_t unsure_count) {
  std::string note;
  if (is_empty) {
    note = absl::StrCat("no ", table.row_name, " has ",
                        unsure_count == 0 ? "changed" : "surely changed");
  }
  if (unsure_count > 0) {
    absl::StrAppend(&note, note.empty() ? "" : "; ",
                    CountRows(unsure_count, table.row_name),
                    " changed by less than two sigma, which may be chance");
  }
  return note;
}

ReportRow RowOfChange(const JoinedRow& change, ReportUnit unit, bool has_sigma,
                      const ReportTable& table) {
  ReportRow row;
  row.key = change.row->key;
  row.cells = {ComputeChange(unit, change.before, change.after)};
  if (has_sigma) {
    row.cells.push_back(MakeValue(unit, static_cast<int64_t>(change.sigma())));
  }
  row.cells.push_back(MakeValue(unit, change.before));
  row.cells.push_back(MakeValue(unit, change.after));
  // Outside its tree, a row is identified by the names of all rows around it.
  bool needs_key = change.row->depth > 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].unit != ReportUnit::kText) continue;
    row.cells.push_back(needs_key ? TextValue(row.key) : change.row->cells[i]);
    needs_key = false;
  }
  return row;
}

ReportTable TableOfChanges(const ReportTable& before, const ReportTable& after,
                           const ComparedColumn& compared) {
  const ReportColumn& column = after.columns[compared.column];
  // Joins the rows of both reports by their keys.
  JoinedRows joined;
  JoinRows(before, compared, &JoinedRow::before, &JoinedRow::variance_before,
           &joined);
  JoinRows(after, compared, &JoinedRow::after, &JoinedRow::variance_after,
           &joined);
  int64_t unsure_count = 0;
  const std::vector<JoinedRow> changes = SureChanges(joined, &unsure_count);

  // Describes the table of changes.
  ReportTable table;
  table.heading = absl::StrContains(after.heading, column.name)
                      ? after.heading
                      : absl::StrCat(after.heading, ": ", column.name);
  table.row_name = after.row_name;
  table.text_rows = 15;
  table.is_detail = after.is_detail || compared.is_detail;
  table.note = ChangeNote(after, changes.empty(), unsure_count);
  table.columns = {{column.name, column.unit}};
  const bool has_sigma =
      std::any_of(changes.begin(), changes.end(),
                  [](const JoinedRow& row) { return row.sigma() > 0; });
  if (has_sigma) table.columns.push_back({"sigma", column.unit});
  table.columns.push_back({"before", column.unit});
  table.columns.push_back({"after", column.unit});
  for (const ReportColumn& each : after.columns) {
    if (each.unit == ReportUnit::kText) table.columns.push_back(each);
  }
  table.sum_column = 0;
  for (const JoinedRow& change : changes) {
    table.rows.push_back(RowOfChange(change, column.unit, has_sigma, after));
  }
  return table;
}

// Returns null if the report does not have the table.
const ReportTable* FindTable(const Report& report, const std::string& heading) {
  for (const ReportTable& table : report.tables) {
    if (table.heading == heading) return &table;
  }
  return nullptr;
}

// Warns of a table that one report lacks. It was not measured there, so its
// rows are not new.
void WarnOfMissingTable(const ReportTable& table, const char* which,
                        Report* changes) {
  if (table.compared.empty()) return;
  changes->warnings.push_back(
      {absl::StrCat("\"", table.heading, "\" is not compared: only ", which,
                    " has it"),
       /*is_note=*/true});
}

}  // namespace

Report CompareReports(const Report& before, const Report& after) {
  Report changes;
  for (const auto& [name, report] :
       {std::pair("before: ", &before), std::pair("after: ", &after)}) {
    for (const ReportWarning& warning : report->warnings) {
      changes.warnings.push_back(
          {absl::StrCat(name, warning.text), warning.is_note});
    }
  }
  changes.tables.push_back(FigureChanges(before, after));
  for (const ReportTable& table : after.tables) {
    const ReportTable* const earlier = FindTable(before, table.heading);
    if (earlier == nullptr) {
      WarnOfMissingTable(table, "the later run", &changes);
      continue;
    }
    for (const ComparedColumn& compared : table.compared) {
      changes.tables.push_back(TableOfChanges(*earlier, table, compared));
    }
  }
  for (const ReportTable& table : before.tables) {
    if (FindTable(after, table.heading) == nullptr) {
      WarnOfMissingTable(table, "the earlier run", &changes);
    }
  }
  return changes;
}

}  // namespace footprint
