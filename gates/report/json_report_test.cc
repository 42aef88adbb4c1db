#include "footprint/gates/report/json_report.h"

#include <string>

#include "footprint/gates/report/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

// Programs read these keys: a change is one of the format.
TEST(JsonReportTest, HasTheFieldsOfTheVerdict) {
  Verdict verdict = ExampleVerdict();
  verdict.mutable_judgements()->DeleteSubrange(2, 1);
  ProducerRemark* const remark = verdict.add_remarks();
  remark->set_label("//c:d");
  remark->mutable_remark()->set_about("memo plan");
  remark->mutable_remark()->set_text("5 loads");
  EXPECT_EQ(WriteJsonReport(verdict), R"json({
  "decision": "REJECT",
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
)json");
}

TEST(JsonReportTest, OfNothingHasEmptyLists) {
  EXPECT_EQ(WriteJsonReport(Verdict()),
            "{\n  \"decision\": \"ACCEPT\",\n  \"judgements\": [],\n  "
            "\"problems\": [],\n  \"remarks\": []\n}\n");
}

// Numbers keep every digit, and a terminal shows the report as it is.
TEST(JsonReportTest, IsExactAndOfAsciiOnly) {
  Verdict verdict = ExampleVerdict();
  verdict.mutable_judgements(0)->set_measured(INT64_MAX);
  verdict.mutable_judgements(0)->set_benchmark("\x1b[2J \xc2\x85 \xff \"");
  const std::string json = WriteJsonReport(verdict);
  EXPECT_THAT(json, HasSubstr("\"measured\": 9223372036854775807,"));
  EXPECT_THAT(json, HasSubstr(R"("\u001b[2J \u0085 \ufffd \"")"));
}

}  // namespace
}  // namespace footprint
