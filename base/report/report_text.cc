#include "footprint/base/report/report_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/text_table.h"

namespace footprint {
namespace {

constexpr size_t kNameBytes = 11;
constexpr size_t kMostCellBytes = 70;

std::string Padded(std::string name) {
  if (name.size() < kNameBytes) name.resize(kNameBytes, ' ');
  return name;
}

std::string Line(const std::string& text) {
  return text.empty() ? "" : absl::StrCat(text, "\n");
}

std::vector<std::string> FormatCells(const ReportTable& table,
                                     const ReportRow& row) {
  std::vector<std::string> cells;
  bool is_first_text = true;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].is_detail) continue;
    const size_t most_bytes = table.columns[i].most_text_bytes;
    std::string cell =
        WriteValue(row.cells[i], most_bytes == 0 ? kMostCellBytes : most_bytes);
    if (table.columns[i].unit == ReportUnit::kText && is_first_text) {
      cell.insert(0, 2 * row.depth, ' ');
      is_first_text = false;
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::string Grid(const ReportTable& table) {
  if (table.rows.empty()) return "";
  std::vector<TextTable::Column> columns;
  for (const ReportColumn& column : table.columns) {
    if (column.is_detail) continue;
    columns.push_back({column.name, column.unit == ReportUnit::kText
                                        ? TextTable::kWords
                                        : TextTable::kFigures});
  }
  TextTable grid(std::move(columns));
  std::vector<std::vector<std::string>> rows;
  for (const ReportRow& row : table.rows) {
    rows.push_back(FormatCells(table, row));
    grid.Fit(rows.back());
  }
  std::string text = grid.Headings();
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&text, grid.Row(row));
  }
  return text;
}

}  // namespace

std::string FiguresText(const Report& report) {
  std::string text;
  for (const ReportFigure& figure : report.figures) {
    if (figure.is_detail) continue;
    const std::string value =
        figure.value.is_known() ? WriteExactValue(figure.value) : "";
    absl::StrAppend(&text, Padded(figure.name), value,
                    value.empty() || figure.detail.empty() ? "" : ", ",
                    figure.detail, "\n");
    for (const std::string& note : figure.notes) {
      absl::StrAppend(&text, Padded(""), note, "\n");
    }
  }
  return text;
}

std::string WarningsText(const Report& report) {
  std::string text;
  for (const ReportWarning& warning : report.warnings) {
    absl::StrAppend(&text, Padded(warning.is_note ? "note" : "warning"),
                    warning.text, "\n");
  }
  return text;
}

std::string TableText(const ReportTable& table) {
  ReportTable shown = table;
  KeepFirstRows(table.text_rows, &shown);
  return absl::StrCat(Line(shown.lead), Grid(shown),
                      Line(DescribeOtherRows(shown)), Line(shown.note));
}

}  // namespace footprint
