#include "footprint/base/report/report_page.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {
namespace {

constexpr size_t kMostCellBytes = 90;

std::string Capitalized(std::string text) {
  if (!text.empty()) {
    text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  }
  return text;
}

std::string Sentence(const std::string& text) {
  return text.empty() ? "" : absl::StrCat(Capitalized(text), ".");
}

std::string DescribeMeaning(const ReportFigure& figure) {
  std::string meaning =
      figure.value.unit == ReportUnit::kBytes
          ? absl::StrCat(FormatCount(figure.value.number), " B")
          : "";
  if (!figure.detail.empty()) {
    absl::StrAppend(&meaning, meaning.empty() ? "" : ", ", figure.detail);
  }
  meaning = Sentence(meaning);
  for (const std::string& note : figure.notes) {
    absl::StrAppend(&meaning, meaning.empty() ? "" : " ", Sentence(note));
  }
  return meaning;
}

// Returns the columns in the order of the page: texts first.
std::vector<size_t> ColumnOrder(const ReportTable& table) {
  std::vector<size_t> order;
  for (size_t i = 0; i < table.columns.size(); ++i) order.push_back(i);
  std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    return table.columns[i].unit == ReportUnit::kText;
  });
  return order;
}

PageTable MakeGrid(const ReportTable& table) {
  const std::vector<size_t> order = ColumnOrder(table);
  PageTable grid;
  grid.caption = table.lead;
  grid.wraps_text = true;
  grid.text_columns = 0;
  for (size_t i : order) {
    if (table.columns[i].is_below_previous) continue;
    grid.header.push_back(table.columns[i].name);
    if (table.columns[i].unit == ReportUnit::kText) ++grid.text_columns;
  }
  for (const ReportRow& row : table.rows) {
    std::vector<std::string> cells;
    for (size_t i : order) {
      std::string cell;
      if (cells.empty()) {
        // These spaces do not collapse.
        for (size_t depth = 0; depth < row.depth; ++depth) {
          cell += "\u00a0\u00a0";
        }
      }
      cell += WriteValue(row.cells[i],
                         table.is_list ? std::string::npos : kMostCellBytes);
      if (!table.columns[i].is_below_previous) {
        cells.push_back(std::move(cell));
      } else if (!cell.empty()) {
        absl::StrAppend(&cells.back(), "\n", cell);
      }
    }
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

// Adds a table of names and values.
void AddFacts(const std::string& caption,
              const std::vector<ReportFigure>& facts, PageContent* page) {
  if (facts.empty()) return;
  PageTable table;
  table.caption = caption;
  table.header = {"", ""};
  table.text_columns = 2;
  table.wraps_text = true;
  for (const ReportFigure& fact : facts) {
    std::string text = WriteExactValue(fact.value);
    if (!fact.detail.empty()) absl::StrAppend(&text, ", ", fact.detail);
    for (const std::string& note : fact.notes) {
      absl::StrAppend(&text, "\n", note);
    }
    table.rows.push_back({fact.name, std::move(text)});
  }
  page->AddTable(table);
}

// Adds a bar of the largest parts. It cannot show parts below zero.
void AddBar(const ReportTable& table, PageContent* page) {
  constexpr size_t kMostSeries = 7;
  const size_t name_column = ColumnOrder(table).front();
  std::vector<const ReportRow*> parts;
  for (const ReportRow& row : table.rows) {
    if (row.cells[0].number > 0) parts.push_back(&row);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const ReportRow* a, const ReportRow* b) {
                     return a->cells[0].number > b->cells[0].number;
                   });
  StackedBars chart;
  chart.title = table.heading;
  chart.bars = {{table.columns[0].name, {}}};
  double others = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto bytes = static_cast<double>(parts[i]->cells[0].number);
    if (i < kMostSeries) {
      chart.series.push_back(parts[i]->cells[name_column].text);
      chart.bars[0].values.push_back(bytes);
    } else {
      others += bytes;
    }
  }
  if (others > 0) {
    chart.series.push_back("smaller parts");
    chart.bars[0].values.push_back(others);
  }
  if (!chart.series.empty()) page->AddStackedBars(chart);
}

void AddReport(const Report& report, Page* page) {
  constexpr size_t kMostRows = 200;
  AddWarnings(report, page);
  AddFigures(report, page);
  for (const ReportTable& table : report.tables) {
    AddTable(table, kMostRows, page);
  }
  AddRemarks(report, page);
  for (const Report& part : report.parts) {
    page->AddSection(part.title);
    AddReport(part, page);
  }
}

}  // namespace

std::string ReportPage(const Report& report) {
  Page page(report.title, Sentence(report.summary));
  AddReport(report, &page);
  return page.Html();
}

void AddWarnings(const Report& report, PageContent* page) {
  std::vector<std::string> warnings;
  for (const ReportWarning& warning : report.warnings) {
    warnings.push_back(Capitalized(warning.text));
  }
  page->AddWarnings(warnings);
}

void AddFigures(const Report& report, PageContent* page) {
  std::vector<PageFigure> figures;
  std::vector<ReportFigure> texts;
  for (const ReportFigure& figure : report.figures) {
    if (figure.value.unit == ReportUnit::kText) {
      texts.push_back(figure);
      continue;
    }
    figures.push_back(
        {Capitalized(figure.name),
         figure.value.is_known() ? WriteValue(figure.value) : "not measured",
         DescribeMeaning(figure)});
  }
  if (!figures.empty()) page->AddFigures(figures);
  AddFacts("", texts, page);
}

void AddTable(const ReportTable& table, size_t most_rows, PageContent* page) {
  ReportTable shown = table;
  KeepFirstRows(most_rows, &shown);
  if (!shown.heading.empty()) page->AddHeading(shown.heading);
  if (table.is_breakdown) AddBar(table, page);
  if (shown.rows.empty()) {
    if (!shown.lead.empty()) page->AddParagraph(Sentence(shown.lead));
  } else {
    page->AddTable(MakeGrid(shown));
  }
  for (const std::string& text : {DescribeOtherRows(shown), shown.note}) {
    if (!text.empty()) page->AddParagraph(Sentence(text));
  }
}

void AddRemarks(const Report& report, PageContent* page) {
  if (report.remarks.empty() && report.facts.empty()) return;
  page->AddHeading("How it was measured");
  for (const std::string& remark : report.remarks) {
    page->AddParagraph(Sentence(remark));
  }
  AddFacts("The run", report.facts, page);
}

}  // namespace footprint
