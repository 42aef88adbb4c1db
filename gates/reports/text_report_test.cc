#include "footprint/gates/reports/text_report.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "footprint/base/text/wrap_text.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/example_verdict.h"
#include "footprint/gates/reports/verdict_words.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ReportOptions EveryRule() {
  ReportOptions options;
  options.has_every_rule = true;
  return options;
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

TEST(TextReportTest, ALineADeploymentThenWhatIsNotAcceptedThenTheDecision) {
  EXPECT_EQ(WriteTextReport(ExampleVerdict(), ReportOptions()),
            R"text(deployment  rules  nearest margin     limit
//a:b           2  0.1 % over 1,000   t:9
//c:d           1  50.0 % under 20 B  t:14
//e:f           0  not judged
(A limit is a line of *.textproto; --all shows every rule.)

REJECT //a:b BM_Fit/rows:10 [loop/read]: allocations is 1,001, limit exact
    1,000, 1 over (t.textproto:9)
    accept it with: bazel run //gates:update -- --only=//a:b

WARN //c:d BM_Load: peak live is 10 B, limit min 20 B, 10 B under
    (t.textproto:14)
    accept it with: bazel run //gates:update -- --only=//c:d

PRODUCER_FAILED //e:f: gave no measurement
    last words

REJECT 2 deployments, 2 benchmarks, 3 rules, 1 rejected, 1 warned, 1 problem
)text");
}

TEST(TextReportTest, OnDemandEveryRuleWithItsExactFigures) {
  const std::string text = WriteTextReport(ExampleVerdict(), EveryRule());
  EXPECT_EQ(text.substr(0, text.find("REJECT //a:b")), R"text(//a:b
  BM_Fit/rows:10
    peak live    1,572,864 B  max 2,097,152 B        25.0 %  accept
  BM_Fit/rows:10 [loop/read]
    allocations        1,001  exact 1,000        0.1 % over  REJECT

//c:d
  BM_Load
    peak live           10 B  min 20 B         50.0 % under  WARN

)text");
}

TEST(TextReportTest, AcceptedIsShort) {
  Verdict verdict = ExampleVerdict();
  verdict.clear_problems();
  verdict.mutable_judgements()->DeleteSubrange(1, 2);
  verdict.set_decision(ACCEPT);
  verdict.mutable_judgements(0)->set_threshold_location(
      "gates/thresholds/tabular.textproto:12");
  EXPECT_EQ(WriteTextReport(verdict, ReportOptions()),
            R"text(deployment  rules  nearest margin      limit
//a:b           1  25.0 % of 2.00 MiB  tabular:12
(A limit is a line of gates/thresholds/*.textproto; --all shows every rule.)

ACCEPT 1 deployment, 1 benchmark, 1 rule
)text");
}

TEST(TextReportTest, LimitsOfSeveralFoldersNameTheirs) {
  Verdict verdict = ExampleVerdict();
  verdict.mutable_judgements(1)->set_threshold_location("x/a/t.textproto:9");
  verdict.mutable_judgements(2)->set_threshold_location("x/ab/t.textproto:14");
  const std::string text = WriteTextReport(verdict, ReportOptions());
  EXPECT_THAT(text, HasSubstr("1,000   a/t:9\n"));
  EXPECT_THAT(text, HasSubstr("20 B  ab/t:14\n"));
  EXPECT_THAT(text, HasSubstr("a line of x/*.textproto"));
}

// Makes a verdict with long names that contain numbers.
Verdict LongVerdict() {
  Verdict verdict = ExampleVerdict();
  for (const char* label :
       {"//trainer_manager/runtime/of/a/long/path:training_benchmark",
        "//a/label/that/would/look/alike/without/number/7/when:shortened",
        "//a/label/1/that/2/has/3/too/4/many/5/numbers/6/in/7/it/8:9"}) {
    Judgement* const judgement = verdict.add_judgements();
    *judgement = verdict.judgements(1);
    judgement->set_label(label);
    judgement->set_benchmark(
        "linear_regression_with_a_name/io:mapped/features:1000/rows:2000000");
    judgement->set_measured(123456789012345);
    judgement->set_limit(123456789012344);
    judgement->set_threshold_location(
        "gates/thresholds/trainer_manager.debian12.textproto:1234");
    judgement->set_command_to_accept(
        "bazel run //gates:update -- --allow_increase --reason=\"...\" "
        "--only='//trainer_manager/runtime:training benchmark' "
        "--benchmark='linear_regression_with_a_name/io:mapped/rows:2000000, a "
        "name of many words'");
  }
  Problem* const problem = verdict.add_problems();
  problem->set_decision(BAD_CONFIGURATION);
  problem->set_location("//g:h");
  problem->set_message(
      "no threshold judges benchmark \"BM_X\"; add what it needs now with: "
      "bazel run //gates:update -- --add --only=//g:h --benchmark=BM_X");
  return verdict;
}

TEST(TextReportTest, FitsTheTerminalAndLosesNoNumber) {
  const Verdict verdict = LongVerdict();
  for (const bool has_every_rule : {false, true}) {
    for (const size_t width : {60, 80, 120}) {
      ReportOptions options;
      options.has_every_rule = has_every_rule;
      options.width = width;
      const std::string text = WriteTextReport(verdict, options);
      for (const std::string& line : Lines(text)) {
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
      for (const char* number :
           {"features:1000/", "rows:2000000", "123,456,789,012,345",
            "123,456,789,012,344", "textproto:1234", "number/7/",
            "/1/that/2/has/3/too/4/many/5/numbers/6/in/7/it/8:9"}) {
        EXPECT_THAT(absl::StrReplaceAll(text, {{"\n", ""}, {" ", ""}}),
                    HasSubstr(number))
            << text;
      }
    }
  }
}

TEST(TextReportTest, ShortensNoTwoNamesToOne) {
  Verdict verdict = ExampleVerdict();
  for (const char* part : {"abcdefgh", "abcdxfgh"}) {
    Judgement* const judgement = verdict.add_judgements();
    *judgement = verdict.judgements(0);
    judgement->set_label(absl::StrCat("//a/label/of/many/letters/", part,
                                      "/that/goes/on/after/it:and_has_a_name"));
  }
  const std::string text = WriteTextReport(verdict, ReportOptions());
  EXPECT_THAT(text, HasSubstr("/abcdefgh/"));
  EXPECT_THAT(text, HasSubstr("/abcdxfgh/"));
}

TEST(TextReportTest, ACommandStandsOnLinesOfItsOwn) {
  EXPECT_THAT(WriteTextReport(LongVerdict(), ReportOptions()),
              HasSubstr("add what it needs\n    now with:\n    bazel run "
                        "//gates:update -- --add --only=//g:h "
                        "--benchmark=BM_X\n\n"));
}

TEST(TextReportTest, ColourIsForTerminalsOnly) {
  for (const bool has_every_rule : {false, true}) {
    ReportOptions options;
    options.has_every_rule = has_every_rule;
    const std::string plain = WriteTextReport(ExampleVerdict(), options);
    EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
    options.has_colour = true;
    std::string coloured = WriteTextReport(ExampleVerdict(), options);
    EXPECT_THAT(coloured, HasSubstr("\x1b[31mREJECT\x1b[0m"));
    EXPECT_THAT(coloured, HasSubstr("\x1b[33mWARN\x1b[0m"));
    if (has_every_rule) {
      EXPECT_THAT(coloured, HasSubstr("\x1b[32maccept\x1b[0m"));
    }
    // The text is the same without the colours.
    EXPECT_EQ(absl::StrReplaceAll(coloured, {{"\x1b[31m", ""},
                                             {"\x1b[32m", ""},
                                             {"\x1b[33m", ""},
                                             {"\x1b[0m", ""}}),
              plain);
  }
}

TEST(TextReportTest, EveryDecisionBeginsTheLastLine) {
  for (int number = 0; number <= 5; ++number) {
    for (const bool is_long : {false, true}) {
      Verdict verdict = is_long ? LongVerdict() : Verdict();
      verdict.set_decision(static_cast<Decision>(number));
      const std::vector<std::string> lines =
          Lines(WriteTextReport(verdict, ReportOptions()));
      EXPECT_THAT(lines[lines.size() - 2],
                  StartsWith(Decision_Name(verdict.decision())));
    }
  }
}

TEST(TextReportTest, ABudgetOfATrialNamesNoCommand) {
  Verdict verdict = ExampleVerdict();
  for (Judgement& judgement : *verdict.mutable_judgements()) {
    judgement.clear_command_to_accept();
  }
  EXPECT_THAT(WriteTextReport(verdict, ReportOptions()),
              Not(HasSubstr("accept it with")));
}

}  // namespace
}  // namespace footprint
