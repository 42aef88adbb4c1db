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
// A page needs no network and no font of its own. It holds a script only if it
// has a flame graph or the single points of a timeline. It follows the reader's
// choice of light or dark, fits a telephone and a wide screen, prints every
// view, and describes each picture in words. Any text may be given: characters
// that HTML would interpret are escaped. Equal data give equal bytes.
//
// Thread-compatible. Memory: the page's text, twice in Html. Time: linear.

#ifndef FOOTPRINT_BASE_PAGE_PAGE_H_
#define FOOTPRINT_BASE_PAGE_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/base/page/flame_graph.h"
#include "footprint/base/page/layout_chart.h"
#include "footprint/base/page/line_chart.h"
#include "footprint/base/page/stacked_bars.h"
#include "footprint/base/page/timeline.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {

// Rows under a header. The first `text_columns` columns are text, the rest
// numbers, which end at the right.
struct PageTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  size_t text_columns = 1;
  // Long texts take several lines, so that the numbers stay in sight.
  bool wraps_text = false;
};

struct PageFigure {
  std::string name;
  std::string value;
  std::string meaning;
};

// Content of a page, a view or a fold, in the order in which it was added.
class PageContent {
 public:
  void AddHeading(absl::string_view text);
  void AddParagraph(absl::string_view text);
  // Warnings that the reader must know before anything else; one a line.
  void AddWarnings(const std::vector<std::string>& warnings);
  // Large figures, each with its name above it and what it means below.
  void AddFigures(const std::vector<PageFigure>& figures);
  void AddTable(const PageTable& table);
  void AddStackedBars(const StackedBars& chart);
  void AddLineChart(const LineChart& chart);
  void AddLayoutChart(const LayoutChart& chart);
  void AddTimeline(const Timeline& timeline);
  void AddFlameGraph(const FlameGraph& graph);

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

  // A heading to which a link below the lead leads, past what stands between.
  void AddSection(absl::string_view text);

  std::string Html() const;

 private:
  std::string title_;
  std::string lead_;
  std::string section_links_;
  int section_count_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_PAGE_H_
