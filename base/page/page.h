// Makes reports as self-contained pages: HTML and SVG from plain data.
//
//   footprint::Page page("Memory by stage", "Of each program.");
//   page.AddTable({"Peaks", {"size", "peak"}, {{"10 x 1,000", "1.2 MiB"}}});
//   footprint::StackedBars chart;
//   chart.title = "Share of the peak";
//   chart.series = {"read", "fit"};
//   chart.bars = {{"10 x 1,000", {1200, 800}}};
//   page.AddStackedBars(chart);
//   absl::Status status = WriteOutputFile("report.html", page.Html());
//
// A page needs no network and no font of its own. It contains a script only if
// it has a flame graph or a timeline. It follows the reader's choice of light
// or dark, fits a telephone and a wide screen, prints every view, and describes
// each picture in words. Any text may be given: characters that HTML would
// interpret are escaped. Equal data give equal bytes.
//
// Thread-compatible. Memory: the page's text, and twice that in Html. Time:
// linear.

#ifndef FOOTPRINT_BASE_PAGE_PAGE_H_
#define FOOTPRINT_BASE_PAGE_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "footprint/base/page/flame_graph.h"
#include "footprint/base/page/layout_chart.h"
#include "footprint/base/page/line_chart.h"
#include "footprint/base/page/outcome_grid.h"
#include "footprint/base/page/stacked_bars.h"
#include "footprint/base/page/timeline.h"
#include "footprint/base/text/format_bytes.h"

namespace footprint {

// Rows under a header. The first `text_columns` columns are text; the others
// are numbers, which are aligned to the right.
struct PageTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  size_t text_columns = 1;
  // If set, long texts take several lines, so that the numbers remain visible.
  bool wraps_text = false;
};

struct PageFigure {
  std::string name;
  std::string value;
  std::string meaning;
};

// The content of a page, a view or a fold, in the order of the calls.
class PageContent {
 public:
  void AddHeading(absl::string_view text);
  void AddParagraph(absl::string_view text);
  // Adds warnings that the reader must know before anything else, one per line.
  void AddWarnings(const std::vector<std::string>& warnings);
  // Adds large figures, each with its name above it and its meaning below.
  void AddFigures(const std::vector<PageFigure>& figures);
  void AddTable(const PageTable& table);
  void AddStackedBars(const StackedBars& chart);
  void AddLineChart(const LineChart& chart);
  void AddLayoutChart(const LayoutChart& chart);
  void AddOutcomeGrid(const OutcomeGrid& grid);
  void AddTimeline(const Timeline& timeline);
  void AddFlameGraph(const FlameGraph& graph);

  // Adds content that is shown only when the reader opens it.
  void AddFold(absl::string_view summary, const PageContent& content);

  // Adds views, of which the reader chooses one by name; `label` says what is
  // chosen. Give at most 8, since a screen shows no others. On paper all are
  // shown.
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
  // Makes an empty page; `lead` is shown below the title.
  Page(absl::string_view title, absl::string_view lead);

  // Adds a heading, and a link to it below the lead.
  void AddSection(absl::string_view text);

  // Returns the whole document.
  std::string Html() const;

 private:
  std::string title_;
  std::string lead_;
  std::string section_links_;
  int section_count_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_PAGE_H_
