#include "footprint/base/report/report_markdown.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

constexpr size_t kMostRows = 20;
constexpr size_t kMostCellBytes = 90;

// Digits and units need no escapes.
std::string WriteMarkdown(const ReportValue& value) {
  const std::string text = WriteExactValue(value);
  return value.unit == ReportUnit::kText ? EscapeForMarkdown(text) : text;
}

std::string FigureRows(const Report& report) {
  if (report.figures.empty()) return "";
  std::string text = "\n| figure | value | |\n|---|--:|---|\n";
  for (const ReportFigure& figure : report.figures) {
    std::string meaning = figure.detail;
    for (const std::string& note : figure.notes) {
      absl::StrAppend(&meaning, meaning.empty() ? "" : "; ", note);
    }
    absl::StrAppend(
        &text, "| ", EscapeForMarkdown(figure.name), " | ",
        figure.value.is_known() ? WriteMarkdown(figure.value) : "not measured",
        " | ", EscapeForMarkdown(meaning), " |\n");
  }
  return text;
}

std::string Grid(const ReportTable& table) {
  if (table.rows.empty()) return "";
  std::string text = "\n|";
  for (const ReportColumn& column : table.columns) {
    absl::StrAppend(&text, " ", EscapeForMarkdown(column.name), " |");
  }
  absl::StrAppend(&text, "\n|");
  for (const ReportColumn& column : table.columns) {
    absl::StrAppend(&text, column.unit == ReportUnit::kText ? "---|" : "--:|");
  }
  absl::StrAppend(&text, "\n");
  for (const ReportRow& row : table.rows) {
    absl::StrAppend(&text, "|");
    for (const ReportValue& cell : row.cells) {
      absl::StrAppend(&text, " ",
                      EscapeForMarkdown(WriteValue(
                          cell, table.is_list ? text.npos : kMostCellBytes)),
                      " |");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string Paragraph(const std::string& text) {
  return text.empty() ? "" : absl::StrCat("\n", EscapeForMarkdown(text), "\n");
}

std::string TableMarkdown(const ReportTable& table) {
  ReportTable shown = table;
  if (!table.is_list) KeepFirstRows(kMostRows, &shown);
  return absl::StrCat(Paragraph(shown.lead), Grid(shown),
                      Paragraph(DescribeOtherRows(shown)),
                      Paragraph(shown.note));
}

}  // namespace

std::string ReportMarkdown(const Report& report) {
  std::string text = absl::StrCat("## ", EscapeForMarkdown(report.title), "\n",
                                  Paragraph(report.summary));
  for (const ReportWarning& warning : report.warnings) {
    absl::StrAppend(&text, "\n> ", warning.is_note ? "" : "**Warning:** ",
                    EscapeForMarkdown(warning.text), "\n");
  }
  absl::StrAppend(&text, FigureRows(report));
  bool is_first = true;
  for (const ReportTable& table : report.tables) {
    const std::string body = TableMarkdown(table);
    if (is_first) {
      absl::StrAppend(&text, "\n### ", EscapeForMarkdown(table.heading), "\n",
                      body);
    } else {
      // Markdown does not apply in the line of an HTML tag.
      absl::StrAppend(&text, "\n<details><summary>",
                      EscapeForXml(table.heading), "</summary>\n", body,
                      "\n</details>\n");
    }
    is_first = false;
  }
  for (const Report& part : report.parts) {
    absl::StrAppend(&text, "\n", ReportMarkdown(part));
  }
  return text;
}

}  // namespace footprint
