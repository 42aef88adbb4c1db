// Reports as self-contained pages: HTML and SVG from plain data.
//
//   footprint::Page page("Memory by stage", "Of each program.");
//   page.AddTable({"Peaks", {"size", "peak"}, {{"10 x 1,000", "1.2 MiB"}}});
//   footprint::StackedBars chart;
//   chart.title = "Share of the peak";
//   chart.series = {"read", "fit"};
//   chart.bars = {{"10 x 1,000", {1200, 800}}};
//   page.AddStackedBars(chart);
//   WriteFile("report.html", page.Html());
//
// A page needs no network, no script and no font of its own; it follows the
// reader's choice of light or dark, fits a telephone and a wide screen, prints
// every view, and says in words what a picture shows. Any text may be given:
// what HTML would understand otherwise is escaped. Equal data give equal bytes.
//
// Thread-compatible. Memory: the page's text, twice in Html. Time: linear.

#ifndef FOOTPRINT_PROFILING_PAGE_H_
#define FOOTPRINT_PROFILING_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

// "1.2 MiB", "117 MiB", "512 B": at least two digits, never more than four.
std::string AbbreviateBytes(double bytes);

// Rows under a header. The first `text_columns` columns are text, the rest
// numbers, which end at the right.
struct PageTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  size_t text_columns = 1;
};

// One bar a row, made of one part a series, with the bar's total at its end.
struct StackedBars {
  enum class Scale {
    kShare,     // every bar has the full width
    kAbsolute,  // the largest total has the full width
  };
  struct Bar {
    std::string label;
    std::vector<double> values;  // one a series, none negative
  };

  std::string title;
  std::string description;
  std::vector<std::string> series;  // at most 8 are told apart by colour
  std::vector<Bar> bars;
  Scale scale = Scale::kShare;
  std::function<std::string(double)> format = AbbreviateBytes;
};

// Lines through points, for figures that follow a size.
struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points;  // x ascending
  };

  std::string title;
  std::string description;
  std::string x_label;
  std::string y_label;
  // Powers of ten at equal distances; points at or below zero are left out.
  bool has_logarithmic_x = false;
  bool has_logarithmic_y = false;
  std::vector<Line> lines;  // at most 8 are told apart by colour
  std::function<std::string(double)> format_x;  // unset: plain numbers
  std::function<std::string(double)> format_y;
};

// What lies where in an arena, and when: a box a tensor over steps and bytes;
// below it, how many bytes are live at each step.
struct LayoutChart {
  struct Box {
    std::string label;
    int64_t begin_step = 0;
    int64_t end_step = 0;  // one past the last
    int64_t offset_bytes = 0;
    int64_t size_bytes = 0;
    size_t series = 0;
    bool is_marked = false;  // full colour and an outline; others are pale
  };

  std::string title;
  std::string description;
  std::vector<std::string> series;  // at most 8 are told apart by colour
  std::vector<Box> boxes;
  int64_t marked_step = 0;
  int64_t marked_bytes = 0;  // a level that `marked_label` explains
  std::string marked_label;
};

// What a page, a view or a fold holds, in the order in which it was added.
class PageContent {
 public:
  void AddHeading(absl::string_view text);
  void AddParagraph(absl::string_view text);
  // Verbatim, such as a command.
  void AddCode(absl::string_view text);
  void AddTable(const PageTable& table);
  void AddStackedBars(const StackedBars& chart);
  void AddLineChart(const LineChart& chart);
  void AddLayoutChart(const LayoutChart& chart);

  // Shown only when the reader opens it.
  void AddFold(absl::string_view summary, const PageContent& content);

  // One of at most 8 at a time is shown; the reader chooses by name. `label`
  // says what is chosen. On paper all are shown.
  struct View;
  void AddViews(absl::string_view label, const std::vector<View>& views);

 private:
  friend class Page;
  std::string html_;
};

struct PageContent::View {
  std::string name;
  PageContent content;
};

class Page : public PageContent {
 public:
  // `lead` stands below the title.
  Page(absl::string_view title, absl::string_view lead);

  std::string Html() const;

 private:
  std::string title_;
  std::string lead_;
};

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_PAGE_H_
