#include "footprint/base/page/page.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/page/chart_drawing.h"
#include "footprint/base/page/page_scripts.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {

using page_internal::kChartColours;
using page_internal::kChartStyle;
using page_internal::kColourCount;
using page_internal::kFlameGraphBegin;
using page_internal::kFlameGraphScript;
using page_internal::kFlameGraphStyle;
using page_internal::kGroupBegin;
using page_internal::kGroupEnd;
using page_internal::kGroupName;
using page_internal::kTimelineBegin;
using page_internal::kTimelineScript;
using page_internal::kTimelineStyle;

namespace {

constexpr char kStyle[] = R"css(
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem;
  overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem;
  letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
p { max-width: 42rem; margin: 0 0 .9rem; }
.lead { color: var(--soft); font-size: 1.05rem; margin-bottom: 1.75rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
caption span { display: inline-block; max-width: calc(100vw - 2.5rem); }
.plain th, .plain td { padding: .3rem .9rem .3rem 0; text-align: right;
  border-bottom: 1px solid var(--rule); white-space: nowrap; }
.plain .text { text-align: left; }
.wrapping .text { white-space: pre-line;
  min-width: 7rem; max-width: 30rem; }
.plain thead th { color: var(--soft); font-weight: 500; }
.plain tbody th { font-weight: 400; }
figure { margin: 1.25rem 0 .75rem; }
figcaption { font-weight: 600; margin-bottom: .15rem; }
.about { color: var(--soft); font-size: .9rem; margin: 0 0 .6rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.1rem;
  margin: 0 0 .75rem; padding: 0; font-size: .875rem; }
.key { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem;
  border-radius: 2px; vertical-align: -.06rem; }
.bars { width: 100%; }
.bars th { text-align: left; font-weight: 400; white-space: nowrap;
  padding: .16rem .9rem .16rem 0; width: 1%; }
.bars td { padding: .16rem 0; }
.bars .total { text-align: right; white-space: nowrap; width: 1%;
  padding-left: .9rem; color: var(--soft); }
.bar { display: flex; height: 1.35rem; border-radius: 2px; overflow: hidden; }
.part, .unknown { min-width: 0; overflow: hidden; font-size: .75rem;
  line-height: 1.35rem; text-align: center; white-space: nowrap; }
.lined + .lined { border-left: 1px solid var(--paper); }
.unknown { flex: 1 1 0; padding: 0 .4rem; text-align: left; color: var(--soft);
  background: repeating-linear-gradient(135deg, var(--wash) 0 6px,
    var(--paper) 6px 12px); }
@media (max-width: 40rem) {
  .bars tr { display: grid; grid-template-columns: 1fr auto; }
  .bars td:nth-child(2) { grid-column: 1 / 3; grid-row: 2;
    padding-bottom: .5rem; }
  .bars th, .bars .total { width: auto; padding-bottom: 0; }
  .small { visibility: hidden; } }
svg { display: block; width: 100%; height: auto; }
.scroll > svg { min-width: 34rem; }
svg.narrow { display: none; }
@media screen and (max-width: 40rem) {
  svg.wide { display: none; }
  svg.narrow { display: block; } }
details { margin: 0 0 1.5rem; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
.views { border: 0; margin: 1.5rem 0 0; padding: 0; min-width: 0; }
.views > legend { padding: 0; margin-bottom: .4rem; color: var(--soft);
  font-size: .875rem; }
.views > input { position: absolute; opacity: 0; }
.views > label { display: inline-block; cursor: pointer; font-size: .9rem;
  padding: .25rem .8rem; margin: 0 .3rem .4rem 0; border-radius: 999px;
  border: 1px solid var(--rule); }
.views > input:checked + label { background: var(--ink); color: var(--paper);
  border-color: var(--ink); }
.views > input:focus-visible + label { outline: 2px solid var(--accent);
  outline-offset: 2px; }
.view { display: none; }
.sections { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem;
  margin: 0 0 1.5rem; font-size: .9rem; }
.sections a { color: var(--accent); }
a:focus-visible, summary:focus-visible, .scroll:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px; }
.warnings { margin: 0 0 1.5rem; padding: .7rem 1rem .7rem 2rem;
  background: var(--wash); border-left: 4px solid var(--c1);
  border-radius: 4px; }
.figures { display: grid; gap: 1.25rem 2rem; margin: 1.5rem 0;
  grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); }
.figures dt { color: var(--soft); font-size: .9rem; }
.figures dd { margin: 0; }
.figures dd:nth-of-type(1) { font-size: 1.6rem; line-height: 1.3;
  font-weight: 600; font-variant-numeric: tabular-nums; }
.figures dd:nth-of-type(2) { color: var(--soft); font-size: .875rem; }
@media print { .view { display: block; } }
)css";

// Replaces the marks of groups by names that are unique on the page.
std::string NameGroups(const std::string& html) {
  std::string named;
  std::vector<int> open_groups;
  int group_count = 0;
  for (const char byte : html) {
    if (byte == kGroupBegin[0]) {
      open_groups.push_back(++group_count);
    } else if (byte == kGroupEnd[0]) {
      open_groups.pop_back();
    } else if (byte == kGroupName[0]) {
      absl::StrAppend(&named, "views", open_groups.back());
    } else {
      named += byte;
    }
  }
  return named;
}

}  // namespace

void PageContent::AddHeading(absl::string_view text) {
  absl::StrAppend(&html_, "<h2>", EscapeForXml(text), "</h2>\n");
}

void PageContent::AddParagraph(absl::string_view text) {
  absl::StrAppend(&html_, "<p>", EscapeForXml(text), "</p>\n");
}

void PageContent::AddWarnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  absl::StrAppend(&html_, "<ul class=\"warnings\">\n");
  for (const std::string& warning : warnings) {
    absl::StrAppend(&html_, "<li>", EscapeForXml(warning), "</li>\n");
  }
  absl::StrAppend(&html_, "</ul>\n");
}

void PageContent::AddFigures(const std::vector<PageFigure>& figures) {
  absl::StrAppend(&html_, "<dl class=\"figures\">\n");
  for (const PageFigure& figure : figures) {
    absl::StrAppend(&html_, "<div><dt>", EscapeForXml(figure.name), "</dt><dd>",
                    EscapeForXml(figure.value), "</dd><dd>",
                    EscapeForXml(figure.meaning), "</dd></div>\n");
  }
  absl::StrAppend(&html_, "</dl>\n");
}

void PageContent::AddTable(const PageTable& table) {
  const auto text_class = [&table](size_t column) {
    return column < table.text_columns ? " class=\"text\"" : "";
  };
  absl::StrAppend(
      &html_,
      "<div class=\"scroll\" tabindex=\"0\">"
      "<table class=\"plain",
      table.wraps_text ? " wrapping" : "", "\">",
      table.caption.empty()
          ? ""
          : absl::StrCat("<caption><span>", EscapeForXml(table.caption),
                         "</span></caption>"),
      "<thead><tr>");
  for (size_t i = 0; i < table.header.size(); ++i) {
    absl::StrAppend(&html_, "<th scope=\"col\"", text_class(i), ">",
                    EscapeForXml(table.header[i]), "</th>");
  }
  absl::StrAppend(&html_, "</tr></thead><tbody>\n");
  for (const std::vector<std::string>& row : table.rows) {
    absl::StrAppend(&html_, "<tr>");
    for (size_t i = 0; i < row.size(); ++i) {
      const char* tag = i == 0 ? "th" : "td";
      absl::StrAppend(&html_, "<", tag, i == 0 ? " scope=\"row\"" : "",
                      text_class(i), ">", EscapeForXml(row[i]), "</", tag, ">");
    }
    absl::StrAppend(&html_, "</tr>\n");
  }
  absl::StrAppend(&html_, "</tbody></table></div>\n");
}

void PageContent::AddStackedBars(const StackedBars& chart) {
  html_ += DrawStackedBars(chart);
}

void PageContent::AddLineChart(const LineChart& chart) {
  html_ += DrawLineChart(chart);
}

void PageContent::AddLayoutChart(const LayoutChart& chart) {
  html_ += DrawLayoutChart(chart);
}

void PageContent::AddOutcomeGrid(const OutcomeGrid& grid) {
  html_ += DrawOutcomeGrid(grid);
}

void PageContent::AddTimeline(const Timeline& timeline) {
  html_ += DrawTimeline(timeline);
}

void PageContent::AddFlameGraph(const FlameGraph& graph) {
  html_ += DrawFlameGraph(graph);
}

void PageContent::AddFold(absl::string_view summary,
                          const PageContent& content) {
  absl::StrAppend(&html_, "<details><summary>", EscapeForXml(summary),
                  "</summary>\n", content.html_, "</details>\n");
}

void PageContent::AddViews(absl::string_view label,
                           const std::vector<View>& views) {
  absl::StrAppend(&html_, kGroupBegin, "<fieldset class=\"views\"><legend>",
                  EscapeForXml(label), "</legend>\n");
  for (size_t i = 0; i < views.size(); ++i) {
    absl::StrAppend(&html_, "<input type=\"radio\" name=\"", kGroupName,
                    "\" id=\"", kGroupName, "-", i, "\"",
                    i == 0 ? " checked" : "", "><label for=\"", kGroupName, "-",
                    i, "\">", EscapeForXml(views[i].name), "</label>\n");
  }
  for (const View& view : views) {
    absl::StrAppend(&html_, "<div class=\"view\">\n", view.content.html_,
                    "</div>\n");
  }
  absl::StrAppend(&html_, "</fieldset>\n", kGroupEnd);
}

Page::Page(absl::string_view title, absl::string_view lead)
    : title_(title), lead_(lead) {}

void Page::AddSection(absl::string_view text) {
  const std::string name = absl::StrCat("section-", ++section_count_);
  const std::string escaped = EscapeForXml(text);
  absl::StrAppend(&section_links_, "<a href=\"#", name, "\">", escaped,
                  "</a>\n");
  absl::StrAppend(&html_, "<h2 id=\"", name, "\">", escaped, "</h2>\n");
}

std::string Page::Html() const {
  std::string style = absl::StrCat(kChartColours, kStyle, kChartStyle);
  for (size_t i = 1; i <= kColourCount; ++i) {
    absl::StrAppend(&style, ".views > input:nth-of-type(", i,
                    "):checked ~ .view:nth-of-type(", i,
                    ") { display: block; }\n");
  }
  const std::string links =
      section_links_.empty()
          ? ""
          : absl::StrCat("<nav class=\"sections\" aria-label=\"Sections\">\n",
                         section_links_, "</nav>\n");
  // Page text is escaped, so none of it looks like the beginning of a picture.
  std::string script;
  if (absl::StrContains(html_, kFlameGraphBegin)) {
    absl::StrAppend(&style, kFlameGraphStyle);
    absl::StrAppend(&script, "<script>", kFlameGraphScript, "</script>\n");
  }
  if (absl::StrContains(html_, kTimelineBegin)) {
    absl::StrAppend(&style, kTimelineStyle);
    absl::StrAppend(&script, "<script>", kTimelineScript, "</script>\n");
  }
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>",
      EscapeForXml(title_), "</title>\n<style>", style,
      "</style>\n</head>\n<body>\n<main>\n<h1>", EscapeForXml(title_),
      "</h1>\n<p class=\"lead\">", EscapeForXml(lead_), "</p>\n", links,
      NameGroups(html_), "</main>\n", script, "</body>\n</html>\n");
}

}  // namespace footprint
