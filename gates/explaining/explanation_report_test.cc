#include "footprint/gates/explaining/explanation_report.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/base/text/wrap_text.h"
#include "footprint/gates/explaining/explained_input.h"
#include "footprint/gates/explaining/gate_explanation.h"
#include "footprint/gates/judge/evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::HasSubstr;

std::vector<GateExplanation> Explanations(const std::string& gate) {
  const GateInput input = ExplainedInput();
  ExplainOptions options;
  options.gate = gate;
  options.has_every_rule = true;
  return *ExplainGates(input, Judge(input, EvaluationOptions()), options);
}

TEST(ExplanationReportTest, TellsARuleOnATerminal) {
  EXPECT_EQ(ReportText(MakeExplanationReport(Explanations("t:6"))),
            R"text(REJECT //a:b BM_Fit/rows:10
rule       peak live at most 1.00 MiB (1,048,576 B); blocks
where      x/t.textproto:6
owner      models
because    the table is held once
measured   2.00 MiB (2,097,152 B), EXACT over 3 processes
margin     1.00 MiB over
accept     the measured value becomes the limit by
           bazel run //gates:update -- --allow_increase --reason="..." \
               --only=//a:b --benchmark=BM_Fit/rows:10

history
2026-11-21 977 KiB (1,000,000 B) -> 1.00 MiB (1,048,576 B): a cache

peak live    exactly  phase
 2.00 MiB  2,095,000  read
 1.46 KiB      1,500  fit

peak live  exactly  held at the peak by
 2.00 KiB    2,048  tensor:conv1/weights

what grew
BM_Fit/rows:10
  phase read
    ! exact value at x/t.gcc.textproto:6
    peak live +1.00 MiB (+1,048,576 B, +100.2 %): 1,046,424 B -> 2,095,000 B
)text");
}

TEST(ExplanationReportTest, OfARuleThatHoldsTellsHowToTightenIt) {
  const std::string text =
      ReportText(MakeExplanationReport(Explanations("t:14")));
  EXPECT_THAT(text, HasSubstr("accept //a:b BM_Load\n"));
  EXPECT_THAT(text, HasSubstr("history    none is kept\n"));
  EXPECT_THAT(text, HasSubstr("what grew  not known: no exact value"));
  EXPECT_THAT(text, HasSubstr("tighten    it holds; to what was measured"));
  EXPECT_THAT(ReportText(MakeExplanationReport(Explanations("t.gcc:11"))),
              HasSubstr("accept     it holds, to the byte\n"));
}

TEST(ExplanationReportTest, SaysThatASmallDecreaseMayHideAGrowth) {
  std::vector<GateExplanation> explanations = Explanations("t:14");
  Judgement& judgement = explanations[0].judgement;
  judgement.set_limit(judgement.measured() + 200);
  EXPECT_THAT(ReportText(MakeExplanationReport(explanations)),
              HasSubstr("but        a smaller growth may hide behind this "
                        "decrease of 200 B"));
}

TEST(ExplanationReportTest, FitsTheTerminalAndIsColouredOnDemand) {
  std::vector<GateExplanation> explanations = Explanations("//a:b");
  explanations[0].judgement.set_benchmark(
      "BM_a_long_name_of_a_benchmark_that_goes_on_and_on/rows:1000000/io:mapped"
      "\x1b[2J");
  for (int i = 0; i < 20; ++i) {
    explanations[0].phases.push_back({"phase" + std::to_string(i), i});
  }
  ReportTextOptions options;
  for (const size_t width : {60, 80}) {
    options.width = width;
    const std::string text =
        ReportText(MakeExplanationReport(explanations), options);
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
    EXPECT_THAT(text, testing::Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("more smaller ones"));
  }
  options.has_colour = true;
  EXPECT_THAT(ReportText(MakeExplanationReport(explanations), options),
              HasSubstr("\x1b[1mREJECT //a:b"));
}

TEST(ExplanationReportTest, ProgramsReadTheSame) {
  const nlohmann::json json = nlohmann::json::parse(
      WriteReportAs("json", MakeExplanationReport(Explanations("t:6"))));
  const nlohmann::json& gate = json["parts"][0];
  const nlohmann::json& figures = gate["figures"];
  EXPECT_EQ(figures["limit"]["bytes"], 1048576);
  EXPECT_EQ(figures["measured"]["bytes"], 2097152);
  EXPECT_EQ(figures["label"]["value"], "//a:b");
  EXPECT_EQ(figures["benchmark"]["value"], "BM_Fit/rows:10");
  EXPECT_EQ(figures["metric"]["value"], "PEAK_LIVE_USABLE_BYTES");
  EXPECT_EQ(figures["kind_of_rule"]["value"], "MAXIMUM");
  EXPECT_EQ(figures["decision"]["value"], "REJECT");
  EXPECT_THAT(figures["accept"]["value"], HasSubstr("bazel run //gates:up"));
  const nlohmann::json& tables = gate["tables"];
  EXPECT_EQ(tables["history"]["rows"][0]["reason"], "a cache");
  EXPECT_EQ(tables["what_grew"]["rows"][3]["after"], 2095000);
  EXPECT_EQ(tables["phases"]["rows"][0]["phase"], "read");
  EXPECT_EQ(tables["phases"]["rows"][0]["exactly"], 2095000);
}

TEST(ExplanationReportTest, PagesHaveEveryFigure) {
  for (const char* const format : {"markdown", "html"}) {
    const std::string text =
        WriteReportAs(format, MakeExplanationReport(Explanations("t:6")));
    for (const char* const word :
         {"1,048,576 B", "2,097,152 B", "2,095,000", "1,500", "2,048",
          "1,046,424 B", "the table is held once", "a cache"}) {
      EXPECT_THAT(text, HasSubstr(word)) << format;
    }
  }
}

TEST(ExplanationReportTest, AHistoryTellsEveryNumber) {
  HistoryEntry entry;
  entry.set_date("2026-11-21");
  entry.set_reason("why");
  entry.set_new_value(5);
  entry.set_old_ratio(1.5);
  entry.set_new_ratio(2);
  entry.set_old_minimum(1);
  entry.set_new_minimum(2);
  EXPECT_EQ(DescribeHistoryEntry(entry, ALLOCATION_COUNT),
            "2026-11-21  5  ratio 1.5 -> 2  minimum 1 -> 2  why");
}

}  // namespace
}  // namespace footprint
