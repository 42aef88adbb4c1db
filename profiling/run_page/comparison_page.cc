#include "footprint/profiling/run_page/comparison_page.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/page/page.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_page.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/run_page/page_sections.h"
#include "footprint/profiling/run_page/run_flame_graph.h"
#include "footprint/profiling/run_page/run_page.h"

namespace footprint {
namespace {

void AddFlameGraph(const MeasuredRun& before, const MeasuredRun& after,
                   size_t most_bytes, PageContent* page) {
  FlameGraph graph = ComparisonFlameGraph(before, after, most_bytes);
  if (graph.nodes.empty()) return;
  graph.description =
      "Red grew, blue shrank, the more the deeper; grey did not change, or no "
      "more than chance may.";
  page->AddHeading("Where from");
  page->AddFlameGraph(graph);
}

std::string PageWithin(const MeasuredRun& before, const MeasuredRun& after,
                       const Report& changes, const PageLimits& limits) {
  Page page("Memory, before and after",
            absl::StrCat("Before: ", ShortProgram(before),
                         ". After: ", ShortProgram(after), "."));
  AddWarnings(changes, &page);
  bool is_first = true;
  for (const ReportTable& table : changes.tables) {
    AddTable(table, limits.table_rows, &page);
    // The flame graph comes below the figures.
    if (is_first) {
      AddFlameGraph(before, after, limits.flame_graph_bytes, &page);
    }
    is_first = false;
  }
  return page.Html();
}

}  // namespace

std::string ComparisonPage(const MeasuredRun& before,
                           const MeasuredRun& after) {
  const Report changes = ComparisonReport(before, after);
  PageLimits limits;
  std::string html = PageWithin(before, after, changes, limits);
  while (html.size() > kMostPageBytes && limits.table_rows > 2) {
    limits.flame_graph_bytes /= 2;
    limits.table_rows /= 2;
    html = PageWithin(before, after, changes, limits);
  }
  return html;
}

}  // namespace footprint
