#include "footprint/gates/reports/openmetrics_report.h"

#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string Report(const Verdict& verdict, bool has_every_rule) {
  ReportOptions options;
  options.has_every_rule = has_every_rule;
  return WriteOpenmetricsReport(verdict, options);
}

TEST(OpenmetricsReportTest, ViolationsAndMargins) {
  const std::string text = Report(ExampleVerdict(), false);
  EXPECT_THAT(text, HasSubstr("# TYPE footprint_gate_decision gauge\n"
                              "footprint_gate_decision 1\n"));
  EXPECT_THAT(text,
              HasSubstr("# UNIT footprint_gate_measured_calls calls\n"
                        "footprint_gate_measured_calls{deployment=\"//a:b\","
                        "benchmark=\"BM_Fit/rows:10\",phase=\"loop/read\","
                        "metric=\"allocation_count\",rule=\"exact\","
                        "limit_location=\"t.textproto:9\"} 1001\n"));
  EXPECT_THAT(text, HasSubstr("location=\"//e:f\",message=\"gave no "
                              "measurement\\nlast words\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("footprint_gate_nearest_margin_ratio{"));
  EXPECT_THAT(text, Not(HasSubstr("1572864")));
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(OpenmetricsReportTest, EveryRuleOnDemand) {
  const std::string text = Report(ExampleVerdict(), true);
  EXPECT_THAT(text, HasSubstr("limit_location=\"t.textproto:4\"} 1572864\n"));
  EXPECT_THAT(text, HasSubstr("limit_location=\"t.textproto:4\"} 2097152\n"));
}

TEST(OpenmetricsReportTest, APointIsToldOnce) {
  Verdict verdict = ExampleVerdict();
  const Judgement again = verdict.judgements(1);
  *verdict.add_judgements() = again;
  EXPECT_EQ(Report(verdict, true).find("} 1001"),
            Report(verdict, true).rfind("} 1001"));
}

// A threshold over a law can limit the prediction at several sizes.
TEST(OpenmetricsReportTest, LimitsAtSeveralSizesAreToldApart) {
  Verdict verdict;
  for (const char* size : {"rows=30000", "rows=300000"}) {
    Judgement* const judgement = verdict.add_judgements();
    *judgement = ExampleVerdict().judgements(0);
    judgement->set_rule(PREDICTED_MAXIMUM);
    judgement->set_size(size);
  }
  verdict.mutable_judgements(1)->set_decision(REJECT);
  const std::string text = Report(verdict, true);
  EXPECT_THAT(text, HasSubstr("limit_location=\"t.textproto:4\","
                              "size=\"rows=30000\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("limit_location=\"t.textproto:4\","
                              "size=\"rows=300000\"} 0\n"));
}

}  // namespace
}  // namespace footprint
