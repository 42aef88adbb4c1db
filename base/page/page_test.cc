// Tests of page.h's promises.

#include "footprint/base/page/page.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns whether HTML never closes the element.
bool IsVoid(const std::string& name) {
  return name == "meta" || name == "input" || name == "!DOCTYPE";
}

// Returns "" if every element is closed in the right order, otherwise the first
// one that is not.
std::string FindUnclosed(const std::string& html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos;
       at = html.find('<', at + 1)) {
    const size_t end = html.find('>', at);
    if (end == std::string::npos) return html.substr(at);
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
    if (tag.back() == '/' || IsVoid(name)) continue;
    if (name == "script") {  // its text is not HTML
      at = html.find("</script>", end);
      if (at == std::string::npos) return name;
    } else if (tag[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != tag) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

StackedBars TwoBars() {
  StackedBars chart;
  chart.title = "Stages";
  chart.series = {"read", "fit"};
  chart.bars = {{"small", {300, 100}}, {"large", {0, 1000}}};
  return chart;
}

std::string WriteHtml(const StackedBars& chart) {
  Page page("Title", "Lead.");
  page.AddStackedBars(chart);
  return page.Html();
}

Timeline TwoPoints() {
  Timeline timeline;
  timeline.title = "Live bytes";
  timeline.series = {"all"};
  timeline.points = {{0, 1, 0}, {5, 2, 0}};
  return timeline;
}

FlameGraph OneCall() {
  FlameGraph graph;
  graph.title = "Calls";
  graph.measures = {{"peak"}};
  graph.nodes = {{-1, "main", "", 0, {7}}};
  return graph;
}

TEST(PageTest, HoldsEverythingInOrderAndClosesIt) {
  Page page("Title", "Lead.");
  page.AddHeading("First");
  page.AddParagraph("Words.");
  page.AddTable({"Caption", {"name", "bytes"}, {{"a", "1"}, {"b", "2"}}});
  page.AddStackedBars(TwoBars());
  LineChart lines;
  lines.title = "Growth";
  lines.lines = {{"peak", {{1, 10}, {2, 20}}}};
  page.AddLineChart(lines);
  LayoutChart layout;
  layout.title = "Layout";
  layout.boxes = {{"box", 0, 4, 0, 30}};
  page.AddLayoutChart(layout);
  OutcomeGrid grid;
  grid.title = "Outcomes";
  grid.columns = {"64 MiB"};
  grid.sections = {{"GPT-2", {{"lowmem", {{"killed"}}}}}};
  page.AddOutcomeGrid(grid);
  page.AddWarnings({"Beware."});
  page.AddFigures({{"Peak", "5 B", "What it means."}});
  page.AddTimeline(TwoPoints());
  page.AddFlameGraph(OneCall());
  PageContent inner;
  inner.AddParagraph("Inner.");
  page.AddFold("More", inner);
  page.AddViews("Choose", {{"one", inner}, {"two", inner}});
  const std::string html = page.Html();
  EXPECT_EQ(FindUnclosed(html), "");
  EXPECT_NE(html.find("<th scope=\"col\" class=\"text\">name</th>"
                      "<th scope=\"col\">bytes</th>"),
            std::string::npos);
  // The first cell is the row's head, and the first view is shown.
  EXPECT_THAT(html, HasSubstr("<tr><th scope=\"row\" class=\"text\">a</th>"
                              "<td>1</td></tr>"));
  EXPECT_THAT(html, ContainsRegex("id=\"[^\"]*-0\" checked><label"));
  EXPECT_THAT(html, Not(ContainsRegex("id=\"[^\"]*-1\" checked")));
  size_t last = 0;
  for (const std::string text :
       {"<h1>Title", "Lead.",  "<h2>First", "Words.",         "Caption",
        "Stages",    "Growth", "Layout",    "Outcomes",       "killed",
        "Beware.",   "Peak",   "5 B",       "What it means.", "Live bytes",
        "Calls",     "More",   "Inner.",    "Choose",         "two"}) {
    const size_t found = html.find(text, last);
    EXPECT_NE(found, std::string::npos) << text;
    last = found;
  }
}

TEST(PageTest, EscapesWhatHtmlWouldUnderstand) {
  const std::string evil = "<script>\x03\x02\x01alert('&\"')</script>";
  Page page(evil, evil);
  page.AddHeading(evil);
  page.AddParagraph(evil);
  page.AddTable({evil, {evil}, {{evil, evil}}});
  StackedBars bars = TwoBars();
  bars.title = bars.description = bars.series[0] = bars.bars[0].label = evil;
  bars.format = [&evil](double) { return evil; };
  page.AddStackedBars(bars);
  LineChart lines;
  lines.title = lines.description = lines.x_label = lines.y_label = evil;
  lines.lines = {{evil, {{1, 10}, {2, 20}}}};
  lines.format_x = lines.format_y = bars.format;
  page.AddLineChart(lines);
  LayoutChart layout;
  layout.title = layout.description = layout.marked_label = evil;
  layout.series = {evil, evil};
  layout.boxes = {{evil, 0, 4, 0, 30}};
  page.AddLayoutChart(layout);
  OutcomeGrid grid;
  grid.title = grid.description = evil;
  grid.columns = {evil};
  grid.sections = {{evil, {{evil, {{evil, evil}}}}}};
  page.AddOutcomeGrid(grid);
  page.AddWarnings({evil});
  page.AddFigures({{evil, evil, evil}});
  page.AddFold(evil, PageContent());
  page.AddViews(evil, {{evil, PageContent()}});
  EXPECT_THAT(page.Html(), Not(HasSubstr("<script")));
  EXPECT_THAT(page.Html(), Not(HasSubstr("'&\"'")));
  EXPECT_THAT(page.Html(), Not(HasSubstr("\x03")));
  EXPECT_EQ(FindUnclosed(page.Html()), "");
}

TEST(PageTest, NeedsNothingFromElsewhere) {
  const std::string html = WriteHtml(TwoBars());
  for (const char* foreign :
       {"http", "src=", "@import", "url(", "<script", "<link"}) {
    EXPECT_THAT(html, Not(HasSubstr(foreign)));
  }
}

TEST(PageTest, HoldsAScriptOnceForThePicturesThatNeedIt) {
  const auto count = [](const Page& page, const std::string& text) {
    const std::string html = page.Html();
    int found = 0;
    for (size_t at = html.find(text); at != std::string::npos;
         at = html.find(text, at + 1)) {
      ++found;
    }
    return found;
  };
  Page page("Title", "class FlameGraph <figure class=\"flame\">");
  page.AddParagraph("<figure class=\"flame\">");
  EXPECT_EQ(count(page, "<script"), 0);
  page.AddFlameGraph(OneCall());
  page.AddFlameGraph(OneCall());
  EXPECT_EQ(count(page, "<script>"), 1);
  PageContent inner;
  inner.AddTimeline(TwoPoints());
  page.AddFold("More", inner);
  EXPECT_EQ(count(page, "<script>"), 2);
  EXPECT_EQ(count(page, "'use strict'"), 2);
  EXPECT_EQ(count(page, "application/json"), 3);
  for (const char* foreign : {"https:", "src=", "@import", "fetch(", "eval("}) {
    EXPECT_EQ(count(page, foreign), 0) << foreign;
  }
}

TEST(PageTest, TellsGroupsOfViewsApart) {
  PageContent a;
  a.AddViews("Choose", {{"one", PageContent()}});
  Page page("Title", "");
  page.AddViews("Outer", {{"one", a}, {"two", a}});
  page.AddViews("Outer", {{"one", PageContent()}, {"two", PageContent()}});
  const std::string html = page.Html();
  std::vector<std::string> identifiers;
  for (size_t at = html.find(" id=\""); at != std::string::npos;
       at = html.find(" id=\"", at + 1)) {
    identifiers.push_back(html.substr(at, html.find('"', at + 5) - at));
  }
  std::sort(identifiers.begin(), identifiers.end());
  EXPECT_EQ(identifiers.size(), 6u);
  EXPECT_EQ(std::unique(identifiers.begin(), identifiers.end()),
            identifiers.end());
}

TEST(PageTest, SectionsAreLinkedBelowTheLead) {
  Page page("Title", "Lead.");
  EXPECT_THAT(page.Html(), testing::Not(testing::HasSubstr("<nav")));
  page.AddSection("Margins & more");
  page.AddParagraph("Words.");
  page.AddSection("Every rule");
  const std::string html = page.Html();
  EXPECT_THAT(html, testing::HasSubstr(
                        "Lead.</p>\n<nav class=\"sections\" "
                        "aria-label=\"Sections\">\n<a href=\"#section-1\">"
                        "Margins &amp; more</a>\n<a href=\"#section-2\">"));
  EXPECT_THAT(html, testing::HasSubstr("<h2 id=\"section-2\">Every rule</h2>"));
}

}  // namespace
}  // namespace footprint
