#include "footprint/gates/reports/sarif_report.h"

#include <string>

#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

nlohmann::json WriteRun(const Verdict& verdict, bool has_every_rule) {
  ReportOptions options;
  options.has_every_rule = has_every_rule;
  return nlohmann::json::parse(WriteSarifReport(verdict, options))["runs"][0];
}

TEST(SarifReportTest, FindingsStandAtTheirLimits) {
  const nlohmann::json run = WriteRun(ExampleVerdict(), false);
  ASSERT_EQ(run["results"].size(), 3u);
  const nlohmann::json& problem = run["results"][0];
  EXPECT_EQ(problem["ruleId"], "problem/PRODUCER_FAILED");
  EXPECT_FALSE(problem["locations"][0].contains("physicalLocation"));
  EXPECT_EQ(
      problem["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
      "//e:f");
  const nlohmann::json& rejection = run["results"][1];
  EXPECT_EQ(rejection["level"], "error");
  EXPECT_EQ(rejection["ruleId"], "memory/EXACT_VALUE");
  const nlohmann::json& place = rejection["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "t.textproto");
  EXPECT_EQ(place["region"]["startLine"], 9);
  EXPECT_EQ(run["results"][2]["level"], "warning");
  for (const nlohmann::json& result : run["results"]) {
    EXPECT_EQ(
        result["ruleId"],
        run["tool"]["driver"]["rules"][result["ruleIndex"].get<int>()]["id"]);
  }
  EXPECT_EQ(run["invocations"][0]["exitCode"], 1);
}

TEST(SarifReportTest, TellsWhatHoldsOnDemand) {
  const nlohmann::json run = WriteRun(ExampleVerdict(), true);
  ASSERT_EQ(run["results"].size(), 4u);
  EXPECT_EQ(run["results"][3]["kind"], "pass");
  EXPECT_EQ(run["results"][3]["level"], "none");
}

TEST(SarifReportTest, PathsAreUris) {
  Verdict verdict = ExampleVerdict();
  verdict.mutable_judgements(1)->set_threshold_location(
      "a b#\xc3\xa9.textproto:3");
  EXPECT_EQ(
      WriteRun(verdict, false)["results"][1]["locations"][0]["physicalLocation"]
                              ["artifactLocation"]["uri"],
      "a%20b%23%C3%A9.textproto");
}

TEST(SarifReportTest, WhatIsLeftOutIsSaid) {
  ReportOptions options;
  options.has_every_rule = true;
  const nlohmann::json run = nlohmann::json::parse(
      WriteSarifReportOfAtMost(2, ExampleVerdict(), options))["runs"][0];
  // Results that reject stay.
  ASSERT_EQ(run["results"].size(), 2u);
  EXPECT_EQ(run["results"][0]["level"], "error");
  EXPECT_EQ(run["results"][1]["level"], "error");
  const std::string said =
      run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
  EXPECT_EQ(said, "2 more results are left out: a run has at most 2");
  EXPECT_EQ(kSarifMostResults, 25000u) << "as GitHub documents";
}

}  // namespace
}  // namespace footprint
