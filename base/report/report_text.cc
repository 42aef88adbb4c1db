#include "footprint/base/report/report_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/base/text/text_table.h"
#include "footprint/base/text/wrap_text.h"

namespace footprint {
namespace {

constexpr size_t kNameBytes = 11;
constexpr size_t kMostCellBytes = 70;
constexpr size_t kIndent = 4;

std::string Padded(std::string name) {
  if (name.size() < kNameBytes) name.resize(kNameBytes, ' ');
  return name;
}

// Appends nothing if the line is empty, and escapes it.
void AppendLine(const std::string& line, size_t width, size_t indent,
                std::string* text) {
  if (line.empty()) return;
  const std::string shown = EscapeForTerminal(line);
  absl::StrAppend(
      text, width == kUnwrapped ? shown : WrapText(shown, width, indent), "\n");
}

void AppendCommand(const ReportValue& command, size_t width, size_t column,
                   std::string* text) {
  if (command.text.empty()) return;
  absl::StrAppend(
      text, std::string(column, ' '),
      WrapCommand(WriteValue(command), width, column + kIndent, column), "\n");
}

// Appends the text after a blank line, unless one of the two is empty.
void AppendPart(const std::string& part, std::string* text) {
  absl::StrAppend(text, text->empty() || part.empty() ? "" : "\n", part);
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

std::string Paragraph(const ReportTable& table, const ReportRow& row,
                      size_t width) {
  size_t last = 0;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    if (!table.columns[i].is_detail && !row.cells[i].is_command) last = i;
  }
  std::string text;
  std::string command;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const ReportValue& cell = row.cells[i];
    if (table.columns[i].is_detail) continue;
    if (cell.is_command) {
      AppendCommand(cell, width, kIndent, &command);
      continue;
    }
    absl::StrAppend(
        &text,
        text.empty() ? ""
        : i == last  ? ": "
                     : " ",
        cell.unit == ReportUnit::kText ? cell.text : WriteExactValue(cell));
  }
  // A text may have several lines.
  const size_t indent = 2 * row.depth;
  std::string paragraph;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    AppendLine(
        absl::StrCat(
            std::string(paragraph.empty() ? indent : indent + kIndent, ' '),
            line),
        width, indent + kIndent, &paragraph);
  }
  return paragraph + command;
}

std::string List(const ReportTable& table, size_t width) {
  std::string text;
  for (const ReportRow& row : table.rows) {
    const std::string paragraph = Paragraph(table, row, width);
    if (row.cells.back().is_command) {
      AppendPart(paragraph, &text);
    } else {
      text += paragraph;
    }
  }
  return text;
}

}  // namespace

std::string ReportText(const Report& report, const ReportTextOptions& options) {
  std::string text;
  const size_t width = options.width;
  AppendLine(report.title, width, kIndent, &text);
  if (options.has_colour) text = absl::StrCat("\x1b[1m", text, "\x1b[0m");
  text += FiguresText(report, width);
  AppendPart(TablesText(report, options), &text);
  text += WarningsText(report, width);
  for (const Report& part : report.parts) {
    AppendPart(ReportText(part, options), &text);
  }
  std::string summary;
  AppendLine(report.summary, width, kIndent, &summary);
  AppendPart(summary, &text);
  return text;
}

std::string FiguresText(const Report& report, size_t width) {
  std::string text;
  for (const ReportFigure& figure : report.figures) {
    if (figure.is_detail) continue;
    const bool is_command = figure.value.is_command;
    const std::string value = figure.value.is_known() && !is_command
                                  ? WriteExactValue(figure.value)
                                  : "";
    AppendLine(absl::StrCat(Padded(figure.name), value,
                            value.empty() || figure.detail.empty() ? "" : ", ",
                            figure.detail),
               width, kNameBytes, &text);
    for (const std::string& note : figure.notes) {
      AppendLine(Padded("") + note, width, kNameBytes, &text);
    }
    if (is_command) AppendCommand(figure.value, width, kNameBytes, &text);
  }
  return text;
}

std::string WarningsText(const Report& report, size_t width) {
  std::string text;
  for (const ReportWarning& warning : report.warnings) {
    AppendLine(Padded(warning.is_note ? "note" : "warning") + warning.text,
               width, kNameBytes, &text);
  }
  return text;
}

std::string TablesText(const Report& report, const ReportTextOptions& options) {
  std::string text;
  for (const ReportTable& table : report.tables) {
    if (!table.is_detail) AppendPart(TableText(table, options), &text);
  }
  return text;
}

std::string TableText(const ReportTable& table,
                      const ReportTextOptions& options) {
  ReportTable shown = table;
  KeepFirstRows(table.text_rows, &shown);
  std::string text;
  AppendLine(shown.lead, options.width, 0, &text);
  text += shown.is_list ? List(shown, options.width) : Grid(shown);
  AppendLine(DescribeOtherRows(shown), options.width, 0, &text);
  AppendLine(shown.note, options.width, 0, &text);
  return text;
}

}  // namespace footprint
