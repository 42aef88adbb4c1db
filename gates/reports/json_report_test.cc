#include "footprint/gates/reports/json_report.h"

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/example_verdict.h"
#include "footprint/gates/reports/verdict_words.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::HasSubstr;

ReportOptions EveryRule() {
  ReportOptions options;
  options.has_every_rule = true;
  return options;
}

// Programs read these keys, so a change here changes the format.
constexpr char kReport[] = R"json({
  "decision": "REJECT",
  "deployments": [
    {
      "label": "//a:b",
      "rules": 2,
      "rejected": 1,
      "warned": 0,
      "nearest": {
        "benchmark": "BM_Fit/rows:10",
        "phase": "loop/read",
        "metric": "ALLOCATION_COUNT",
        "rule": "EXACT_VALUE",
        "measured": 1001,
        "limit": 1000,
        "margin": "0.1 % over 1,000",
        "threshold_location": "t.textproto:9"
      }
    },
    {
      "label": "//e:f",
      "rules": 0,
      "rejected": 0,
      "warned": 0,
      "nearest": null
    }
  ],
  "judgements": [
    {
      "label": "//a:b",
      "benchmark": "BM_Fit/rows:10",
      "phase": "",
      "metric": "PEAK_LIVE_USABLE_BYTES",
      "measured": 1572864,
      "limit": 2097152,
      "rule": "MAXIMUM",
      "severity": "BLOCK",
      "determinism": "DETERMINISM_UNSPECIFIED",
      "decision": "ACCEPT",
      "threshold_location": "t.textproto:4",
      "command_to_accept": ""
    },
    {
      "label": "//a:b",
      "benchmark": "BM_Fit/rows:10",
      "phase": "loop/read",
      "metric": "ALLOCATION_COUNT",
      "measured": 1001,
      "limit": 1000,
      "rule": "EXACT_VALUE",
      "severity": "BLOCK",
      "determinism": "DETERMINISM_UNSPECIFIED",
      "decision": "REJECT",
      "threshold_location": "t.textproto:9",
      "command_to_accept": "bazel run //gates:update -- --only=//a:b"
    }
  ],
  "problems": [
    {
      "decision": "PRODUCER_FAILED",
      "location": "//e:f",
      "message": "gave no measurement\nlast words"
    }
  ],
  "remarks": [
    {
      "label": "//c:d",
      "about": "memo plan",
      "text": "5 loads"
    }
  ]
}
)json";

TEST(JsonReportTest, HasTheFieldsOfTheVerdict) {
  const ReportOptions options = EveryRule();
  Verdict verdict = ExampleVerdict();
  verdict.mutable_judgements()->DeleteSubrange(2, 1);
  ProducerRemark* const remark = verdict.add_remarks();
  remark->set_label("//c:d");
  remark->mutable_remark()->set_about("memo plan");
  remark->mutable_remark()->set_text("5 loads");
  EXPECT_EQ(WriteJsonReport(verdict, options), kReport);
}

TEST(JsonReportTest, OfNothingHasEmptyLists) {
  EXPECT_EQ(WriteJsonReport(Verdict(), ReportOptions()),
            "{\n  \"decision\": \"ACCEPT\",\n  \"deployments\": [],\n  "
            "\"judgements\": [],\n  \"problems\": [],\n  \"remarks\": []\n}\n");
}

TEST(JsonReportTest, WithoutEveryRuleHasWhatIsNotAccepted) {
  Verdict verdict = ExampleVerdict();
  verdict.add_judgements()->set_severity(AUDIT);
  verdict.mutable_judgements(3)->set_decision(REJECT);
  verdict.add_remarks()->set_label("//a:b");
  const nlohmann::json json =
      nlohmann::json::parse(WriteJsonReport(verdict, ReportOptions()));
  ASSERT_EQ(json["judgements"].size(), 2U);
  EXPECT_EQ(json["judgements"][0]["measured"], 1001);
  EXPECT_EQ(json["judgements"][1]["severity"], "WARN");
  EXPECT_EQ(json["deployments"][0]["rules"], 2);
  EXPECT_TRUE(json["remarks"].empty());
}

// Numbers keep every digit, and a terminal shows the report as it is.
TEST(JsonReportTest, IsExactAndOfAsciiOnly) {
  Verdict verdict = ExampleVerdict();
  verdict.mutable_judgements(0)->set_measured(INT64_MAX);
  verdict.mutable_judgements(0)->set_benchmark("\x1b[2J \xc2\x85 \xff \"");
  const std::string json = WriteJsonReport(verdict, EveryRule());
  EXPECT_THAT(json, HasSubstr("\"measured\": 9223372036854775807,"));
  EXPECT_THAT(json, HasSubstr(R"("\u001b[2J \u0085 \ufffd \"")"));
}

}  // namespace
}  // namespace footprint
