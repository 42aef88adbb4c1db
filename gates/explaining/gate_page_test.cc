#include "footprint/gates/explaining/gate_page.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/gates/explaining/explained_input.h"
#include "footprint/gates/judge/evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Page(const GateInput& input) {
  return WriteGatePage(input, Judge(input, EvaluationOptions()));
}

// Returns how often `part` stands in `text`.
size_t CountOccurrences(const std::string& text, const std::string& part) {
  return std::vector<std::string>(absl::StrSplit(text, part)).size() - 1;
}

TEST(GatePageTest, TellsDecisionMarginsPhasesHistoryAndEveryRule) {
  const std::string page = Page(ExplainedInput());
  for (const char* part :
       {"<h1>Memory gates: REJECT</h1>",
        "REJECT //a:b BM_Fit/rows:10: peak live is 2.00 MiB (2,097,152 B), "
        "limit max 1.00 MiB (1,048,576 B), 1.00 MiB over (x/t.textproto:6)",
        "(x/t.textproto:6); accept it with", "--allow_increase",
        ">Deployments</h2>", "Deployments, the nearest to a limit first",
        "share of the first value", "1: 105 %",
        "<td>100.0 % over 1.00 MiB</td>", ">Nearest margins</h2>",
        ">Memory by phase</h2>", ">How limits moved</h2>",
        "2026-11-21  977 KiB (1,000,000 B) -&gt; 1.00 MiB (1,048,576 B)",
        "a cache", ">Every rule</h2>", "//a:b, 4 rules",
        "BM_Load peak live</th><td>90 B</td><td>max 100 B</td><td>10.0 %"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  // The page loads nothing.
  for (const char* part : {"http:", "https:", "src=", "<link", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  EXPECT_EQ(page, Page(ExplainedInput()));
}

TEST(GatePageTest, TheNearestToALimitComeFirst) {
  Verdict verdict;
  for (const char* label : {"//a:far", "//b:near", "//c:between"}) {
    Judgement* const judgement = verdict.add_judgements();
    judgement->set_label(label);
    judgement->set_metric(PEAK_LIVE_USABLE_BYTES);
    judgement->set_rule(MAXIMUM);
    judgement->set_limit(100);
  }
  verdict.mutable_judgements(0)->set_measured(10);
  verdict.mutable_judgements(1)->set_measured(99);
  verdict.mutable_judgements(2)->set_measured(50);
  const std::string page = WriteGatePage(GateInput(), verdict);
  for (const char* heading : {">Deployments</h2>", ">Nearest margins</h2>"}) {
    const std::string part = page.substr(page.find(heading));
    EXPECT_LT(part.find("//b:near"), part.find("//c:between"));
    EXPECT_LT(part.find("//c:between"), part.find("//a:far"));
  }
}

TEST(GatePageTest, GrowthWithAnArgumentIsDrawn) {
  GateInput input = ExplainedInput();
  EXPECT_THAT(Page(input), Not(HasSubstr("How memory grows with size")));
  for (const int rows : {20, 40}) {
    BenchmarkMemory* const benchmark = input.profiles[0].add_benchmarks();
    *benchmark = input.profiles[0].benchmarks(0);
    benchmark->set_name(absl::StrCat("BM_Fit/rows:", rows));
    for (BenchmarkMemory* const of :
         {benchmark, input.profiles[0].mutable_benchmarks(0)}) {
      of->clear_arguments();
      Argument* const argument = of->add_arguments();
      argument->set_name("rows");
      argument->set_value(of == benchmark ? absl::StrCat(rows) : "10");
    }
  }
  const std::string page = Page(input);
  EXPECT_THAT(page, HasSubstr(">How memory grows with size</h2>"));
  EXPECT_THAT(page, HasSubstr("//a:b by rows"));
  EXPECT_THAT(page, HasSubstr("BM_Fit/rows:*"));
}

TEST(GatePageTest, NamesAreText) {
  GateInput input = ExplainedInput();
  for (BenchmarkMemory& benchmark : *input.profiles[0].mutable_benchmarks()) {
    benchmark.set_name("BM_Fit/<script>alert(1)</script>\x1b" +
                       benchmark.name());
    for (Phase& phase : *benchmark.mutable_phases()) {
      phase.set_name("<b>" + phase.name());
    }
  }
  const std::string page = Page(input);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
}

TEST(GatePageTest, FewRulesHaveTheirNotes) {
  Verdict verdict;
  Judgement* const judgement = verdict.add_judgements();
  judgement->set_label("//a:b");
  judgement->set_decision(ACCEPT);
  ProducerRemark* const remark = verdict.add_remarks();
  remark->set_label("//a:b");
  remark->mutable_remark()->set_about("memo plan");
  remark->mutable_remark()->set_text("5 values");
  const std::string page = WriteGatePage(GateInput(), verdict);
  EXPECT_THAT(page, HasSubstr("//a:b: memo plan: 5 values"));
  EXPECT_THAT(page, HasSubstr("1 rule<"));
}

TEST(GatePageTest, OfNothingItSaysWhy) {
  GateInput input;
  const std::string page = Page(input);
  EXPECT_THAT(page, HasSubstr("<h1>Memory gates: BAD_CONFIGURATION</h1>"));
  EXPECT_THAT(page, HasSubstr("there is no profile to judge"));
  EXPECT_THAT(page, Not(HasSubstr("<h2")));
}

// A page of 10,000 judgements has each of them and is below 2 MB.
TEST(GatePageTest, TenThousandJudgementsAreBelowTwoMegabytes) {
  for (const int rules_of_one : {1, 10}) {
    GateInput input;
    Verdict verdict;
    input.thresholds.emplace_back();
    input.thresholds[0].path = "gates/thresholds/all.textproto";
    for (int i = 0; i < 10000; ++i) {
      input.thresholds[0].lines.push_back(i + 1);
      Threshold* const threshold = input.thresholds[0].file.add_threshold();
      threshold->set_metric(PEAK_LIVE_USABLE_BYTES);
      for (const int change : {1, 2}) {
        HistoryEntry* const entry = threshold->add_history();
        entry->set_date("2026-11-21");
        entry->set_new_value(1000000 * change);
        entry->set_reason("a cache that holds the last values");
      }
      Judgement* const judgement = verdict.add_judgements();
      judgement->set_label(
          absl::StrCat("//deployments/model", i / rules_of_one, ":benchmark"));
      judgement->set_benchmark(absl::StrCat("BM_Infer/batch:", i));
      judgement->set_metric(PEAK_LIVE_USABLE_BYTES);
      judgement->set_measured(1000000 + i);
      judgement->set_limit(2000000);
      judgement->set_rule(MAXIMUM);
      judgement->set_severity(BLOCK);
      judgement->set_decision(i % 2 == 0 ? ACCEPT : REJECT);
      judgement->set_command_to_accept(absl::StrCat(
          "bazel run //gates:update -- --allow_increase --reason=\"...\" "
          "--only=//deployments/model",
          i));
      judgement->set_threshold_location(
          absl::StrCat("gates/thresholds/all.textproto:", i));
    }
    const std::string page = WriteGatePage(input, verdict);
    EXPECT_LT(page.size(), 2000000U) << rules_of_one;
    EXPECT_THAT(page, HasSubstr("<p>300 of "));
    const std::string every = page.substr(page.find(">Every rule</h2>"));
    EXPECT_EQ(CountOccurrences(every, "<tr><th scope=\"row\""), 10000U);
  }
}

}  // namespace
}  // namespace footprint
