#include "footprint/base/page/outcome_grid.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "footprint/base/page/chart_drawing.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

using page_internal::Caption;
using page_internal::kChartColours;
using page_internal::kChartStyle;
using page_internal::kNarrowFrame;
using page_internal::kWideFrame;
using page_internal::Length;
using page_internal::SvgText;

// The places of a drawing, in its own units.
struct Places {
  double width;
  double left;  // of the first column
  double right;
  double top;
  double row_height;
  // True if a row's label stands beside its cells, and false if above them.
  bool has_labels_beside;
};

constexpr double kHeading = 34;
constexpr double kColumns = 24;
constexpr double kLabelAbove = 20;
constexpr double kGap = 4;

constexpr Places kWide = {kWideFrame.width, 150, 8, 0, 44, true};
constexpr Places kNarrow = {kNarrowFrame.width, 0, 0, 0, 32, false};

double RowHeight(const Places& places) {
  return places.row_height + (places.has_labels_beside ? 0 : kLabelAbove);
}

double Height(const OutcomeGrid& grid, const Places& places) {
  double height = places.top + kColumns;
  for (const OutcomeGrid::Section& section : grid.sections) {
    height +=
        kHeading + RowHeight(places) * static_cast<double>(section.rows.size());
  }
  return height;
}

double CellWidth(const OutcomeGrid& grid, const Places& places) {
  const auto count =
      static_cast<double>(std::max<size_t>(1, grid.columns.size()));
  return (places.width - places.left - places.right) / count;
}

std::string CellText(const OutcomeGrid::Cell& cell, double x, double y,
                     const char* size, const std::string& text) {
  return absl::StrCat("<text style=\"fill:var(--", cell.is_good ? "t2" : "soft",
                      ");", size, "\" x=\"", Length(x), "\" y=\"", Length(y),
                      "\" text-anchor=\"middle\">", EscapeForXml(text),
                      "</text>");
}

// Draws the texts of a cell around its middle. Wide cells have two lines.
std::string CellTexts(const OutcomeGrid::Cell& cell, double x, double y,
                      bool is_wide) {
  constexpr char kFirst[] = "font-size:15px;font-weight:600";
  if (!is_wide) return CellText(cell, x, y + 4, "font-size:11px", cell.text);
  if (cell.detail.empty()) return CellText(cell, x, y + 5, kFirst, cell.text);
  return absl::StrCat(CellText(cell, x, y - 2, kFirst, cell.text),
                      CellText(cell, x, y + 13, "font-size:11px", cell.detail));
}

std::string DrawCell(const OutcomeGrid& grid, const Places& places,
                     const OutcomeGrid::Row& row, size_t column, double y) {
  const OutcomeGrid::Cell& cell = row.cells[column];
  const double width = CellWidth(grid, places);
  const double x = places.left + width * static_cast<double>(column);
  const double height = places.row_height - kGap;
  const std::string words =
      absl::StrCat(row.label, ", ", grid.columns[column], ": ", cell.text,
                   cell.detail.empty() ? "" : ", ", cell.detail);
  return absl::StrCat("<g><title>", EscapeForXml(words),
                      "</title><rect style=\"fill:var(--",
                      cell.is_good ? "c2" : "wash", ")\" x=\"", Length(x),
                      "\" y=\"", Length(y), "\" width=\"", Length(width - kGap),
                      "\" height=\"", Length(height), "\" rx=\"3\"/>",
                      CellTexts(cell, x + (width - kGap) / 2, y + height / 2,
                                places.has_labels_beside),
                      "</g>\n");
}

std::string DrawRow(const OutcomeGrid& grid, const Places& places,
                    const OutcomeGrid::Row& row, double y) {
  std::string svg =
      places.has_labels_beside
          ? SvgText(0, y + places.row_height / 2 + 3, "start", row.label)
          : SvgText(0, y + kLabelAbove - 6, "start", row.label);
  if (!places.has_labels_beside) y += kLabelAbove;
  const size_t count = std::min(row.cells.size(), grid.columns.size());
  for (size_t i = 0; i < count; ++i) {
    absl::StrAppend(&svg, DrawCell(grid, places, row, i, y));
  }
  return svg;
}

std::string DrawGrid(const OutcomeGrid& grid, const Places& places) {
  const double width = CellWidth(grid, places);
  std::string svg;
  double y = places.top;
  for (size_t i = 0; i < grid.columns.size(); ++i) {
    const double x = places.left + width * (static_cast<double>(i) + 0.5);
    absl::StrAppend(&svg,
                    SvgText(x - kGap / 2, y + 14, "middle", grid.columns[i]));
  }
  y += kColumns;
  for (const OutcomeGrid::Section& section : grid.sections) {
    absl::StrAppend(
        &svg, "<text style=\"fill:var(--ink);font-weight:600\" x=\"0\" y=\"",
        Length(y + kHeading - 12), "\">", EscapeForXml(section.heading),
        "</text>\n");
    y += kHeading;
    for (const OutcomeGrid::Row& row : section.rows) {
      absl::StrAppend(&svg, DrawRow(grid, places, row, y));
      y += RowHeight(places);
    }
  }
  return svg;
}

// Begins the picture; `attributes` must be empty or end in a space.
std::string SvgBegin(const OutcomeGrid& grid, const Places& places,
                     double extra, const char* attributes) {
  return absl::StrCat(
      "<svg ", attributes, "viewBox=\"", Length(-extra), " 0 ",
      Length(places.width + 2 * extra), " ", Length(Height(grid, places)),
      "\" role=\"img\" aria-label=\"", EscapeForXml(grid.title), "\">\n");
}

}  // namespace

std::string DrawOutcomeGrid(const OutcomeGrid& grid) {
  return absl::StrCat("<figure>\n", Caption(grid.title, grid.description),
                      SvgBegin(grid, kWide, 0, "class=\"wide\" "),
                      DrawGrid(grid, kWide), "</svg>\n",
                      SvgBegin(grid, kNarrow, 0, "class=\"narrow\" "),
                      DrawGrid(grid, kNarrow), "</svg>\n</figure>\n");
}

std::string OutcomeGridSvg(const OutcomeGrid& grid) {
  constexpr double kTitle = 28;
  constexpr double kDescription = 50;
  constexpr double kMargin = 16;
  Places places = kWide;
  places.top = kDescription + 18;
  return absl::StrCat(
      SvgBegin(grid, places, kMargin, "xmlns=\"http://www.w3.org/2000/svg\" "),
      "<style>", kChartColours, kChartStyle,
      "svg { font-family: system-ui, sans-serif; background: var(--paper); }\n"
      "svg .title { font-size: 17px; font-weight: 600; fill: var(--ink); }\n"
      "</style>\n<text class=\"title\" x=\"0\" y=\"",
      Length(kTitle), "\">", EscapeForXml(grid.title), "</text>\n",
      SvgText(0, kDescription, "start", grid.description), "\n",
      DrawGrid(grid, places), "</svg>\n");
}

}  // namespace footprint
