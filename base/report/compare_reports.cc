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

ReportValue ChangeOf(ReportUnit unit, int64_t before, int64_t after) {
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

ReportValue ValueOf(ReportUnit unit, int64_t number) {
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

ReportRow FigureRow(const std::string& name, ReportUnit unit, int64_t before,
                    int64_t after) {
  return {{ChangeOf(unit, before, after), ShareOfChange(before, after),
           ValueOf(unit, before), ValueOf(unit, after), TextValue(name)},
          name};
}

ReportTable FigureChanges(const Report& before, const Report& after) {
  ReportTable table;
  table.heading = "Figures";
  table.columns = {{"change", ReportUnit::kBytes},
                   {"by", ReportUnit::kShare},
                   {"before", ReportUnit::kBytes},
                   {"after", ReportUnit::kBytes},
                   {"figure"}};
  const auto add = [&table](const ReportFigure& figure,
                            const ReportFigure* from, const ReportFigure* to) {
    const ReportUnit unit = ComparedValue(figure).unit;
    const int64_t old = from == nullptr ? 0 : ComparedValue(*from).number;
    const int64_t now = to == nullptr ? 0 : ComparedValue(*to).number;
    if (!HasNumber(ComparedValue(figure)) || (old == 0 && now == 0)) return;
    table.rows.push_back(FigureRow(figure.name, unit, old, now));
  };
  for (const ReportFigure& figure : after.figures) {
    add(figure, FindFigure(before, figure.name), &figure);
  }
  for (const ReportFigure& figure : before.figures) {
    const ReportFigure* const now = FindFigure(after, figure.name);
    // What is known of one of them alone was told above.
    if (now == nullptr || !HasNumber(ComparedValue(*now))) {
      add(figure, &figure, now);
    }
  }
  table.text_rows = table.rows.size();
  return table;
}

// A row of both reports.
struct JoinedRow {
  int64_t before = 0;
  int64_t after = 0;
  double variance_before = 0;
  double variance_after = 0;
  // Of the later report, where it has the row.
  const ReportRow* row = nullptr;

  int64_t change() const { return SaturatedDifference(after, before); }
  double sigma() const { return std::sqrt(variance_before + variance_after); }
  bool is_sure() const {
    return std::abs(static_cast<double>(change())) > kSureSigmas * sigma();
  }
};

using JoinedRows = std::map<std::string, JoinedRow>;

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

ReportTable TableOfChanges(const ReportTable& before, const ReportTable& after,
                           const ComparedColumn& compared) {
  // Either may lack the table, and so its columns.
  const ReportTable& shape = after.columns.empty() ? before : after;
  const ReportColumn& column = shape.columns[compared.column];
  JoinedRows joined;
  JoinRows(before, compared, &JoinedRow::before, &JoinedRow::variance_before,
           &joined);
  JoinRows(after, compared, &JoinedRow::after, &JoinedRow::variance_after,
           &joined);
  int64_t unsure_count = 0;
  const std::vector<JoinedRow> changes = SureChanges(joined, &unsure_count);

  ReportTable table;
  table.heading = absl::StrContains(shape.heading, column.name)
                      ? shape.heading
                      : absl::StrCat(shape.heading, ": ", column.name);
  table.row_name = shape.row_name;
  table.text_rows = 15;
  table.is_detail = shape.is_detail || compared.is_detail;
  table.note = ChangeNote(shape, changes.empty(), unsure_count);
  table.columns = {{column.name, column.unit}};
  const bool has_sigma =
      std::any_of(changes.begin(), changes.end(),
                  [](const JoinedRow& row) { return row.sigma() > 0; });
  if (has_sigma) table.columns.push_back({"sigma", column.unit});
  table.columns.push_back({"before", column.unit});
  table.columns.push_back({"after", column.unit});
  for (const ReportColumn& each : shape.columns) {
    if (each.unit == ReportUnit::kText) table.columns.push_back(each);
  }
  table.sum_column = 0;
  for (const JoinedRow& change : changes) {
    ReportRow row;
    row.key = change.row->key;
    row.cells = {ChangeOf(column.unit, change.before, change.after)};
    if (has_sigma) {
      row.cells.push_back(
          ValueOf(column.unit, static_cast<int64_t>(change.sigma())));
    }
    row.cells.push_back(ValueOf(column.unit, change.before));
    row.cells.push_back(ValueOf(column.unit, change.after));
    // Out of its tree, a row is known by the names of all around it.
    bool needs_key = change.row->depth > 0;
    for (size_t i = 0; i < shape.columns.size(); ++i) {
      if (shape.columns[i].unit != ReportUnit::kText) continue;
      row.cells.push_back(needs_key ? TextValue(row.key)
                                    : change.row->cells[i]);
      needs_key = false;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

const ReportTable& FindTable(const Report& report, const std::string& heading) {
  static const auto* const kNone = new ReportTable();
  for (const ReportTable& table : report.tables) {
    if (table.heading == heading) return table;
  }
  return *kNone;
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
  const auto compare = [&](const ReportTable& table) {
    for (const ComparedColumn& compared : table.compared) {
      changes.tables.push_back(TableOfChanges(FindTable(before, table.heading),
                                              FindTable(after, table.heading),
                                              compared));
    }
  };
  for (const ReportTable& table : after.tables) compare(table);
  for (const ReportTable& table : before.tables) {
    if (FindTable(after, table.heading).heading.empty()) compare(table);
  }
  return changes;
}

}  // namespace footprint
