// Tests of report_text.h, report_page.h, report_json.h, report_markdown.h and
// report_formats.h, with one report. //profiling/memprof:one_report_test tests
// that a run's figures are the same in all of them.

#include <string>

#include "absl/status/status.h"
#include "footprint/base/page/page.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/base/report/report_json.h"
#include "footprint/base/report/report_markdown.h"
#include "footprint/base/report/report_page.h"
#include "footprint/base/report/report_text.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int CountOccurrences(const std::string& word, const std::string& text) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

Report ExampleReport() {
  Report report;
  report.figures.push_back({"peak heap", BytesValue(1536), "after 1.000 s"});
  report.figures.back().notes = {"in process 7", "half of it its own"};
  report.figures.push_back({"resident", {}, "not measured: no /proc"});
  report.figures.push_back({"time", TimeValue(2000000000)});
  report.figures.back().is_detail = true;
  report.warnings = {{"something is missing"}, {"something is odd", true}};
  ReportTable table;
  table.heading = "Stages <all>";
  table.lead = "the stages:";
  table.note = "exact";
  table.row_name = "stage";
  table.text_rows = 2;
  table.columns = {{"peak", ReportUnit::kBytes},
                   {"calls", ReportUnit::kCount, true},
                   {"share", ReportUnit::kShare},
                   {"share", ReportUnit::kShare},
                   {"stage"}};
  const char* const names[] = {"fit|<b>", "epoch", "littlest"};
  for (size_t i = 0; i < 3; ++i) {
    ReportRow row;
    row.cells = {BytesValue(2048 >> i), CountValue(1000), ShareValue(1, 2 << i),
                 ShareValue(1, 0), TextValue(names[i])};
    row.depth = i == 1 ? 1 : 0;
    table.rows.push_back(row);
  }
  report.tables.push_back(table);
  report.remarks = {"each allocation was recorded"};
  report.facts.push_back({"kernel", TextValue("Linux")});
  return report;
}

TEST(ReportWritersTest, ATerminalGetsWhatHasRoom) {
  const Report report = ExampleReport();
  EXPECT_EQ(FiguresText(report),
            "peak heap  1.50 KiB (1,536 B), after 1.000 s\n"
            "           in process 7\n"
            "           half of it its own\n"
            "resident   not measured: no /proc\n");
  EXPECT_EQ(WarningsText(report),
            "warning    something is missing\n"
            "note       something is odd\n");
  EXPECT_EQ(TableText(report.tables[0]),
            "the stages:\n"
            "    peak   share  share  stage\n"
            "2.00 KiB  50.0 %      -  fit|<b>\n"
            "1.00 KiB  25.0 %      -    epoch\n"
            "and 1 more stage\n"
            "exact\n");
}

TEST(ReportWritersTest, WhatIsNotThereIsEmpty) {
  EXPECT_EQ(FiguresText(Report()), "");
  EXPECT_EQ(WarningsText(Report()), "");
  EXPECT_EQ(TableText(ReportTable()), "");
}

TEST(ReportWritersTest, APageHasTextsBeforeNumbersAndEveryColumn) {
  const Report report = ExampleReport();
  Page page("Title", "");
  AddWarnings(report, &page);
  AddFigures(report, &page);
  AddTable(report.tables[0], 2, &page);
  AddRemarks(report, &page);
  const std::string html = page.Html();
  EXPECT_THAT(html, HasSubstr("Something is missing"));
  EXPECT_THAT(html, HasSubstr("<dt>Peak heap</dt><dd>1.50 KiB</dd><dd>1,536 B, "
                              "after 1.000 s. In process 7. Half of it its "
                              "own.</dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>Resident</dt><dd>not measured</dd><dd>Not "
                              "measured: no /proc.</dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>Time</dt><dd>2.000 s</dd>"));
  EXPECT_THAT(html, HasSubstr("<h2>Stages &lt;all&gt;</h2>"));
  EXPECT_THAT(html,
              HasSubstr("fit|&lt;b&gt;</th><td>2.00 KiB</td><td>1,000</td>"
                        "<td>50.0 %</td><td>-</td>"));
  EXPECT_THAT(html, HasSubstr(">\u00a0\u00a0epoch</th>"));
  EXPECT_THAT(html, Not(HasSubstr("littlest")));
  EXPECT_THAT(html, HasSubstr("And 1 more stage."));
  EXPECT_THAT(html, HasSubstr("Each allocation was recorded."));
  EXPECT_THAT(html, HasSubstr("kernel"));
}

TEST(ReportWritersTest, ATextMayStandBelowAnotherOnAPage) {
  ReportTable table;
  table.columns = {{"bytes", ReportUnit::kBytes},
                   {"where"},
                   {"source", ReportUnit::kText, false, /*most_text_bytes=*/8,
                    /*is_below_previous=*/true}};
  table.rows.push_back(
      {{BytesValue(1), TextValue("a.py:1"), TextValue("x = [0] * 10")}});
  table.rows.push_back({{BytesValue(2), TextValue("b.py:2"), TextValue("")}});
  Page page("Title", "");
  AddTable(table, 2, &page);
  EXPECT_THAT(page.Html(),
              HasSubstr(">a.py:1&#10;x = [0] * 10</th><td>1 B</td>"));
  EXPECT_THAT(page.Html(), HasSubstr(">b.py:2</th><td>2 B</td>"));
  EXPECT_THAT(page.Html(), Not(HasSubstr("source")));
  EXPECT_EQ(TableText(table),
            "bytes  where   source\n"
            "  1 B  a.py:1  x = [...\n"
            "  2 B  b.py:2\n");
}

TEST(ReportWritersTest, ABreakdownIsABarOnAPage) {
  ReportTable table = ExampleReport().tables[0];
  Page plain("Title", "");
  AddTable(table, 40, &plain);
  table.is_breakdown = true;
  Page page("Title", "");
  AddTable(table, 40, &page);
  EXPECT_EQ(CountOccurrences("littlest", plain.Html()), 1);
  EXPECT_GT(CountOccurrences("littlest", page.Html()), 1)
      << "in the table and the bar";
  Page cut("Title", "");
  AddTable(table, 1, &cut);
  EXPECT_GE(CountOccurrences("littlest", cut.Html()), 1)
      << "in the bar, as rows of the table are left out";
}

TEST(ReportWritersTest, JsonHasExactValuesAndNamesOnce) {
  const nlohmann::ordered_json json = ReportJson(ExampleReport());
  EXPECT_EQ(json["figures"]["peak_heap"]["bytes"], 1536);
  EXPECT_EQ(json["figures"]["peak_heap"]["detail"], "after 1.000 s");
  EXPECT_EQ(json["figures"]["peak_heap"]["notes"].size(), 2u);
  EXPECT_TRUE(json["figures"]["resident"]["value"].is_null());
  EXPECT_EQ(json["figures"]["time"]["ns"], 2000000000);
  EXPECT_EQ(json["warnings"][1], "something is odd");
  const auto& rows = json["tables"]["stages_all"]["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["peak_bytes"], 2048);
  EXPECT_EQ(rows[0]["calls"], 1000);
  EXPECT_EQ(rows[0]["share"], 0.5);
  EXPECT_TRUE(rows[0]["share_2"].is_null());
  EXPECT_EQ(rows[0]["stage"], "fit|<b>");
  EXPECT_FALSE(rows[0].contains("depth"));
  EXPECT_EQ(rows[1]["depth"], 1);
}

TEST(ReportWritersTest, MarkdownEscapesNamesAndFoldsTables) {
  Report report = ExampleReport();
  report.tables.push_back(report.tables[0]);
  report.tables[1].heading = "<all>_of";
  report.title = "Memory of a|b";
  report.figures[0].name = "peak|heap";
  report.tables[0].columns[0].name = "<peak>";
  const std::string text = ReportMarkdown(report);
  EXPECT_THAT(text, HasSubstr("## Memory of a\\|b\n"));
  EXPECT_THAT(text, HasSubstr("> **Warning:** something is missing\n"));
  EXPECT_THAT(text,
              HasSubstr("| peak\\|heap | 1.50 KiB (1,536 B) | after 1.000 s; "
                        "in process 7; half of it its own |\n"));
  EXPECT_THAT(text,
              HasSubstr("| &lt;peak&gt; | calls | share | share | stage |\n"
                        "|--:|--:|--:|--:|---|\n"
                        "| 2.00 KiB | 1,000 | 50.0 % | - | "
                        "fit\\|&lt;b&gt; |\n"));
  EXPECT_THAT(text, HasSubstr("### Stages &lt;all&gt;\n"));
  // GitHub reads no markdown there, so it would show a backslash.
  EXPECT_THAT(text, HasSubstr("<details><summary>&lt;all&gt;_of</summary>\n"));
}

// A report of two parts, the second with a list.
Report ReportOfParts() {
  Report report;
  report.title = "Findings of a|b";
  report.summary = "found 2 loose";
  report.parts = {ExampleReport(), Report()};
  report.parts[0].title = "The run";
  Report& part = report.parts[1];
  part.title = "The gates";
  part.figures = {{"reason", TextValue(std::string(500, 'x'))},
                  {"accept", CommandValue("bazel run //a:b -- --only=//c:d"),
                   "the value becomes the limit by"}};
  ReportTable table;
  table.heading = "Findings";
  table.is_list = true;
  table.columns = {
      {"kind"}, {"bytes", ReportUnit::kBytes}, {"text"}, {"command"}};
  table.rows = {{{TextValue("loose"), BytesValue(2048),
                  TextValue("far above the limit\nin t:4"),
                  CommandValue("bazel run //a:b -- --all")}},
                {{TextValue("loose"), BytesValue(1),
                  TextValue(std::string(500, 'y')), CommandValue("")}}};
  part.tables = {table};
  return report;
}

TEST(ReportWritersTest, AWholeReportFitsTheTerminal) {
  Report report = ReportOfParts();
  report.parts[1].figures.erase(report.parts[1].figures.begin());
  report.parts[1].tables[0].rows.pop_back();
  report.parts.erase(report.parts.begin());
  ReportTextOptions options;
  options.width = 40;
  const std::string text =
      "Findings of a|b\n"
      "\n"
      "The gates\n"
      "accept     the value becomes the limit\n"
      "           by\n"
      "           bazel run //a:b -- \\\n"
      "               --only=//c:d\n"
      "\n"
      "loose 2.00 KiB (2,048 B): far above the\n"
      "    limit\n"
      "    in t:4\n"
      "    bazel run //a:b -- --all\n"
      "\n"
      "found 2 loose\n";
  EXPECT_EQ(ReportText(report, options), text);
  options.has_colour = true;
  const std::string coloured = ReportText(report, options);
  EXPECT_THAT(coloured, HasSubstr("\x1b[1mThe gates\n\x1b[0m"));
}

TEST(ReportWritersTest, EachFormatHasEveryPart) {
  const Report report = ReportOfParts();
  for (const char* const format : {"text", "json", "markdown", "html"}) {
    ASSERT_THAT(CheckReportWriter(format), IsOk());
    const std::string text = WriteReportAs(format, report, {2000});
    for (const char* const word :
         {"Findings of a", "The run", "The gates", "epoch", "found 2 loose",
          "loose", "2.00 KiB", "2048", "far above the limit",
          "bazel run //a:b -- --only=//c:d", "bazel run //a:b -- --all"}) {
      const std::string shown =
          std::string(word) == "found 2 loose" && std::string(format) == "html"
              ? "Found 2 loose."
              : word;
      if (shown == "2.00 KiB" && std::string(format) == "json") continue;
      if (shown == "2048" && std::string(format) != "json") continue;
      EXPECT_THAT(text, HasSubstr(shown)) << format;
    }
    // No format shortens the texts of a list, or a figure that is a text.
    EXPECT_THAT(text, HasSubstr(std::string(500, 'y'))) << format;
    EXPECT_THAT(text, HasSubstr(std::string(500, 'x'))) << format;
  }
  const auto json =
      nlohmann::ordered_json::parse(WriteReportAs("json", report));
  EXPECT_EQ(json["title"], "Findings of a|b");
  EXPECT_EQ(json["parts"][1]["tables"]["findings"]["rows"][0]["bytes_bytes"],
            2048);
  EXPECT_EQ(json["summary"], "found 2 loose");
}

TEST(ReportWritersTest, AnUnknownFormatIsRefusedWithTheList) {
  EXPECT_THAT(CheckReportWriter("yaml\x1b"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--format=yaml\\x1b is not one of: text, json, "
                       "markdown, html"));
}

}  // namespace
}  // namespace footprint
