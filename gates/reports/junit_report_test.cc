#include "footprint/gates/reports/junit_report.h"

#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(JunitReportTest, JunitHasASuiteADeploymentAndACaseARule) {
  ReportOptions options;
  options.has_every_rule = true;
  EXPECT_EQ(WriteJunitReport(ExampleVerdict(), options),
            R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1">
  <testsuite name="//a:b" tests="2" failures="1" errors="0">
    <testcase classname="//a:b" name="BM_Fit/rows:10 peak_live_usable_bytes max"/>
    <testcase classname="//a:b" name="BM_Fit/rows:10 [loop/read] allocation_count exact"><failure type="REJECT" message="//a:b BM_Fit/rows:10 [loop/read]: allocations is 1,001, limit exact 1,000, 1 over (t.textproto:9)">accept it with: bazel run //gates:update -- --only=//a:b</failure></testcase>
  </testsuite>
  <testsuite name="//c:d" tests="1" failures="0" errors="0">
    <testcase classname="//c:d" name="BM_Load peak_live_usable_bytes min"><system-out>WARN //c:d BM_Load: peak live is 10 B, limit min 20 B, 10 B under (t.textproto:14)&#10;accept it with: bazel run //gates:update -- --only=//c:d</system-out></testcase>
  </testsuite>
  <testsuite name="problems" tests="1" failures="0" errors="1">
    <testcase classname="problems" name="//e:f"><error type="PRODUCER_FAILED" message="gave no measurement&#10;last words"/></testcase>
  </testsuite>
</testsuites>
)xml");
}

TEST(JunitReportTest, WithoutEveryRuleHasACaseADeploymentAndWhatIsNotAccepted) {
  Verdict verdict = ExampleVerdict();
  verdict.mutable_judgements()->DeleteSubrange(2, 1);
  verdict.clear_problems();
  EXPECT_EQ(WriteJunitReport(verdict, ReportOptions()),
            R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1" errors="0">
  <testsuite name="//a:b" tests="2" failures="1" errors="0">
    <testcase classname="//a:b" name="the nearest of all rules"><system-out>2 rules; nearest margin: 0.1 % over 1,000; //a:b BM_Fit/rows:10 [loop/read]: allocations is 1,001, limit exact 1,000, 1 over (t.textproto:9)</system-out></testcase>
    <testcase classname="//a:b" name="BM_Fit/rows:10 [loop/read] allocation_count exact"><failure type="REJECT" message="//a:b BM_Fit/rows:10 [loop/read]: allocations is 1,001, limit exact 1,000, 1 over (t.textproto:9)">accept it with: bazel run //gates:update -- --only=//a:b</failure></testcase>
  </testsuite>
</testsuites>
)xml");
}

}  // namespace
}  // namespace footprint
