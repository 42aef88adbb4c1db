#include "footprint/gates/reports/github_report.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "footprint/gates/reports/example_verdict.h"
#include "footprint/gates/reports/markdown_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// Returns the lines that GitHub's runner executes according to its
// documentation: those that begin with "::", except between stop-commands and
// its word.
std::vector<std::string> Commands(const std::string& log) {
  std::vector<std::string> commands;
  std::string stop;
  const std::vector<std::string> lines = absl::StrSplit(log, '\n');
  for (const std::string& line : lines) {
    if (!stop.empty()) {
      if (line == stop) stop.clear();
      continue;
    }
    constexpr char kStop[] = "::stop-commands::";
    if (absl::StartsWith(line, kStop)) {
      stop = absl::StrCat("::", line.substr(sizeof(kStop) - 1), "::");
    } else if (absl::StartsWith(line, "::")) {
      commands.push_back(line);
    }
  }
  EXPECT_EQ(stop, "") << "commands stay off";
  return commands;
}

TEST(GithubReportTest, AnnotatesTheLinesOfLimits) {
  EXPECT_THAT(
      Commands(WriteGithubReport(ExampleVerdict(), ReportOptions())),
      ElementsAre(
          "::error title=PRODUCER_FAILED::"
          "//e:f: gave no measurement%0Alast words",
          "::error title=REJECT,file=t.textproto,line=9:://a:b BM_Fit/rows:10 "
          "[loop/read]: allocations is 1,001, limit exact 1,000, 1 over "
          "(t.textproto:9)%0Aaccept it with: bazel run //gates:update -- "
          "--only=//a:b",
          testing::StartsWith(
              "::warning title=WARN,file=t.textproto,line=14::"),
          "::notice title=Memory gates::REJECT 2 deployments, 2 benchmarks, 3 "
          "rules, 1 rejected, 1 warned, 1 problem"));
}

TEST(GithubReportTest, NoNameGivesACommand) {
  Verdict verdict = ExampleVerdict();
  for (const char* name : {"::add-mask::a", "\n::error::b", "::x\r\n::y"}) {
    verdict.mutable_judgements(0)->set_benchmark(name);
    verdict.mutable_judgements(1)->set_benchmark(name);
    verdict.mutable_judgements(1)->set_label(name);
    verdict.mutable_judgements(1)->set_threshold_location(
        absl::StrCat(name, ",line=7:3"));
    verdict.mutable_problems(0)->set_message(name);
    for (const bool has_every_rule : {false, true}) {
      ReportOptions options;
      options.has_every_rule = has_every_rule;
      const std::vector<std::string> commands =
          Commands(WriteGithubReport(verdict, options));
      EXPECT_THAT(commands, SizeIs(4)) << name;
      for (const std::string& command : commands) {
        EXPECT_THAT(command,
                    testing::AnyOf(testing::StartsWith("::error title"),
                                   testing::StartsWith("::warning "),
                                   testing::StartsWith("::notice ")));
        // A colon or a comma in a name does not end a property.
        const std::string properties = command.substr(0, command.find("::", 2));
        EXPECT_THAT(properties, Not(HasSubstr(",line=7")));
      }
    }
  }
}

TEST(GithubReportTest, KeepsWithinWhatAStepMayShow) {
  Verdict verdict = ExampleVerdict();
  const Judgement rejected = verdict.judgements(1);
  for (int i = 0; i < 10000; ++i) *verdict.add_judgements() = rejected;
  const std::vector<std::string> commands =
      Commands(WriteGithubReport(verdict, ReportOptions()));
  EXPECT_THAT(commands, SizeIs(10 + 1 + 1));
  EXPECT_THAT(commands.back(),
              HasSubstr("; 9992 more findings are in the log of this step"));
}

TEST(GithubReportTest, ASummaryThatFitsIsTheMarkdownReport) {
  EXPECT_EQ(WriteGithubSummary(ExampleVerdict(), ReportOptions()),
            WriteMarkdownReport(ExampleVerdict(), ReportOptions()));
}

TEST(GithubReportTest, ASummaryIsCutAtTables) {
  Verdict verdict = ExampleVerdict();
  const Judgement holds = verdict.judgements(0);
  for (int i = 0; i < 20000; ++i) *verdict.add_judgements() = holds;
  ReportOptions options;
  options.has_every_rule = true;
  ASSERT_GT(WriteMarkdownReport(verdict, options).size(),
            kGithubMostSummaryBytes);
  const std::string summary = WriteGithubSummary(verdict, options);
  EXPECT_LE(summary.size(), kGithubMostSummaryBytes);
  EXPECT_GT(summary.size(), kGithubMostSummaryBytes - 1000);
  EXPECT_THAT(summary, HasSubstr("only=//c:d"));
  EXPECT_THAT(summary, HasSubstr(" more lines are left out: a summary has"));
}

TEST(GithubReportTest, NothingFollowsAfterACut) {
  Verdict verdict = ExampleVerdict();
  const Judgement rejected = verdict.judgements(1);
  const auto add_rejected = [&](const std::string& label) {
    Judgement* const added = verdict.add_judgements();
    *added = rejected;
    added->set_label(label);
  };
  add_rejected("//before:cut");
  add_rejected("//long:" + std::string(kGithubMostSummaryBytes, 'x'));
  add_rejected("//fits:again");
  const std::string summary = WriteGithubSummary(verdict, ReportOptions());
  EXPECT_THAT(summary, HasSubstr("//before:cut"));
  EXPECT_THAT(summary, Not(HasSubstr("//fits:again")));
}

TEST(GithubReportTest, ASummaryOfFindingsAloneIsCutToo) {
  Verdict verdict = ExampleVerdict();
  const Judgement rejected = verdict.judgements(1);
  for (int i = 0; i < 20000; ++i) *verdict.add_judgements() = rejected;
  const std::string summary = WriteGithubSummary(verdict, ReportOptions());
  EXPECT_LE(summary.size(), kGithubMostSummaryBytes);
  EXPECT_THAT(summary, HasSubstr(" more lines are left out"));
}

}  // namespace
}  // namespace footprint
