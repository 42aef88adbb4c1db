#include "footprint/gates/reports/gitlab_report.h"

#include <set>
#include <string>

#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

nlohmann::json Issues(const Verdict& verdict) {
  return nlohmann::json::parse(WriteGitlabReport(verdict, ReportOptions()));
}

TEST(GitlabReportTest, FindingsAlone) {
  const nlohmann::json issues = Issues(ExampleVerdict());
  ASSERT_EQ(issues.size(), 3u);
  EXPECT_EQ(issues[0]["severity"], "critical");
  EXPECT_EQ(issues[0]["location"]["path"], "e/BUILD");
  EXPECT_EQ(issues[0]["location"]["lines"]["begin"], 1);
  EXPECT_EQ(issues[1]["severity"], "blocker");
  EXPECT_EQ(issues[1]["check_name"], "REJECT exact");
  EXPECT_EQ(issues[1]["location"]["path"], "t.textproto");
  EXPECT_EQ(issues[1]["location"]["lines"]["begin"], 9);
  EXPECT_EQ(issues[2]["severity"], "minor");
  Verdict accepted;
  EXPECT_EQ(WriteGitlabReport(accepted, ReportOptions()), "[]\n");
}

TEST(GitlabReportTest, ProblemsWithoutAFile) {
  Verdict verdict;
  for (const char* location : {"//:gate", "BM_X", "//a/b", ""}) {
    Problem* const problem = verdict.add_problems();
    problem->set_decision(ACCEPT);
    problem->set_location(location);
  }
  const nlohmann::json issues = Issues(verdict);
  EXPECT_EQ(issues[0]["location"]["path"], "BUILD");
  EXPECT_EQ(issues[1]["location"]["path"], "BUILD");
  EXPECT_EQ(issues[2]["location"]["path"], "a/b/BUILD");
  EXPECT_EQ(issues[3]["location"]["path"], "BUILD");
  EXPECT_EQ(issues[0]["severity"], "info");
}

TEST(GitlabReportTest, FingerprintsAreUnique) {
  Verdict verdict = ExampleVerdict();
  const Judgement rejected = verdict.judgements(1);
  for (int i = 0; i < 100; ++i) *verdict.add_judgements() = rejected;
  std::set<std::string> fingerprints;
  for (const nlohmann::json& issue : Issues(verdict)) {
    fingerprints.insert(issue["fingerprint"].get<std::string>());
  }
  EXPECT_EQ(fingerprints.size(), 103u);
}

}  // namespace
}  // namespace footprint
