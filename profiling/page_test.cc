// What page.h promises.

#include "footprint/profiling/page.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Elements that HTML never closes.
bool IsVoid(const std::string& name) {
  return name == "meta" || name == "input" || name == "!DOCTYPE";
}

// "" if every element is closed in the right order, else the first that is not.
std::string FindUnclosed(const std::string& html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos;
       at = html.find('<', at + 1)) {
    const size_t end = html.find('>', at);
    if (end == std::string::npos) return html.substr(at);
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
    if (tag.back() == '/' || IsVoid(name)) continue;
    if (tag[0] != '/') {
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

std::string HtmlOf(const StackedBars& chart) {
  Page page("Title", "Lead.");
  page.AddStackedBars(chart);
  return page.Html();
}

TEST(AbbreviateBytesTest, KeepsTwoToFourDigits) {
  EXPECT_EQ(AbbreviateBytes(0), "0 B");
  EXPECT_EQ(AbbreviateBytes(1023), "1023 B");
  EXPECT_EQ(AbbreviateBytes(1024), "1.0 KiB");
  EXPECT_EQ(AbbreviateBytes(10 * 1024), "10 KiB");
  EXPECT_EQ(AbbreviateBytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(AbbreviateBytes(1.5 * 1024 * 1024), "1.5 MiB");
  EXPECT_EQ(AbbreviateBytes(-2048), "-2.0 KiB");
  EXPECT_EQ(AbbreviateBytes(5e15), "4547 TiB");
}

TEST(PageTest, HoldsEverythingInOrderAndClosesIt) {
  Page page("Title", "Lead.");
  page.AddHeading("First");
  page.AddParagraph("Words.");
  page.AddCode("bazel run //gates:check");
  page.AddTable({"Caption", {"name", "bytes"}, {{"a", "1"}, {"b", "2"}}});
  page.AddStackedBars(TwoBars());
  LineChart lines;
  lines.title = "Growth";
  lines.lines = {{"peak", {{1, 10}, {2, 20}}}};
  page.AddLineChart(lines);
  PageContent inner;
  inner.AddParagraph("Inner.");
  page.AddFold("More", inner);
  page.AddViews("Choose", {{"one", inner}, {"two", inner}});
  const std::string html = page.Html();
  EXPECT_EQ(FindUnclosed(html), "");
  size_t last = 0;
  for (const std::string text :
       {"<h1>Title", "Lead.", "<h2>First", "Words.", "bazel run", "Caption",
        "Stages", "Growth", "More", "Inner.", "Choose", "two"}) {
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
  page.AddCode(evil);
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
  page.AddFold(evil, PageContent());
  page.AddViews(evil, {{evil, PageContent()}});
  EXPECT_THAT(page.Html(), Not(HasSubstr("<script")));
  EXPECT_THAT(page.Html(), Not(HasSubstr("'&\"'")));
  EXPECT_THAT(page.Html(), Not(HasSubstr("\x03")));
  EXPECT_EQ(FindUnclosed(page.Html()), "");
}

TEST(PageTest, NeedsNothingFromElsewhere) {
  const std::string html = HtmlOf(TwoBars());
  for (const char* foreign :
       {"http", "src=", "@import", "url(", "<script", "<link"}) {
    EXPECT_THAT(html, Not(HasSubstr(foreign)));
  }
}

TEST(PageTest, GivesEveryBarTheFullWidthForShares) {
  const std::string html = HtmlOf(TwoBars());
  EXPECT_THAT(html, HasSubstr("flex:0 1 75.00%"));
  EXPECT_THAT(html, HasSubstr("flex:0 1 100.00%"));
  EXPECT_THAT(html, HasSubstr("read 300 B (75 %), fit 100 B (25 %)"));
  EXPECT_THAT(html, HasSubstr("400 B"));
}

TEST(PageTest, GivesTheLargestBarTheFullWidthForAbsoluteValues) {
  StackedBars chart = TwoBars();
  chart.scale = StackedBars::Scale::kAbsolute;
  const std::string html = HtmlOf(chart);
  EXPECT_THAT(html, HasSubstr("flex:0 1 30.00%"));
  EXPECT_THAT(html, HasSubstr("flex:0 1 10.00%"));
  EXPECT_THAT(html, HasSubstr("flex:0 1 100.00%"));
}

TEST(PageTest, SaysThatABarIsEmpty) {
  StackedBars chart = TwoBars();
  chart.bars = {{"none", {0, 0}}, {"missing", {}}};
  EXPECT_THAT(HtmlOf(chart), HasSubstr("aria-label=\"nothing\""));
}

TEST(PageTest, PlacesPointsOnLogarithmicAxes) {
  LineChart chart;
  chart.has_logarithmic_x = chart.has_logarithmic_y = true;
  chart.lines = {{"a", {{0, 5}, {1, 1}, {10, 100}, {100, 10000}}}};
  Page page("Title", "");
  page.AddLineChart(chart);
  // Three points remain, the middle one exactly between the others.
  EXPECT_THAT(page.Html(),
              HasSubstr("M84.00 308.00L402.00 169.00L720.00 30.00"));
}

TEST(PageTest, DrawsALineChartWithoutPoints) {
  LineChart chart;
  chart.lines = {{"empty", {}}};
  Page page("Title", "");
  page.AddLineChart(chart);
  EXPECT_THAT(page.Html(), Not(HasSubstr("nan")));
  EXPECT_THAT(page.Html(), Not(HasSubstr("inf")));
}

LayoutChart TwoBoxes() {
  LayoutChart chart;
  chart.title = "Layout";
  chart.series = {"weight", "gradient"};
  chart.boxes = {{"a<b", 0, 4, 0, 30, 0, true}, {"c", 2, 8, 30, 30, 1, false}};
  chart.marked_step = 2;
  chart.marked_bytes = 60;
  chart.marked_label = "lower bound";
  return chart;
}

TEST(PageTest, DrawsALayoutToScale) {
  Page page("Title", "Lead.");
  page.AddLayoutChart(TwoBoxes());
  const std::string html = page.Html();
  EXPECT_EQ(FindUnclosed(html), "");
  // 0 to 8 steps from 84 to 720, 0 to 60 bytes from 430 up to 30.
  EXPECT_THAT(html, HasSubstr("class=\"box marked\" x=\"84.00\" y=\"230.00\" "
                              "width=\"318.00\" height=\"200.00\""));
  EXPECT_THAT(html, HasSubstr("class=\"box pale\" x=\"243.00\" y=\"30.00\" "
                              "width=\"477.00\" height=\"200.00\""));
  EXPECT_THAT(html, HasSubstr("a&lt;b (weight): 30 B (30 B) at 0, from step 0 "
                              "until before 4"));
  // Live: 30 bytes, from step 2 on 60, from step 4 on 30, at the end none.
  EXPECT_THAT(html, HasSubstr("d=\"M84.00 532.00H84.00V492.00H243.00V452.00"
                              "H402.00V492.00H720.00V532.00\""));
  EXPECT_THAT(html, HasSubstr(">lower bound</text>"));
}

TEST(PageTest, DrawsALayoutOfNothingAndOfTheLargestSizes) {
  Page page("Title", "Lead.");
  page.AddLayoutChart({});
  LayoutChart chart;
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  chart.boxes = {{"a", 5, 6, 0, kMaximum}};
  chart.marked_bytes = kMaximum;
  page.AddLayoutChart(chart);
  EXPECT_EQ(FindUnclosed(page.Html()), "");
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

}  // namespace
}  // namespace footprint
