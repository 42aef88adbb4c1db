#include "footprint/gates/explaining/audit_report.h"

#include <string>
#include <vector>

#include "footprint/base/report/report_formats.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::HasSubstr;

std::vector<AuditFinding> Example() {
  return {{AuditFinding::Kind::kUnguarded, "//a:b BM_X",
           "no rule judges it; add one with:",
           "bazel run //gates:update -- --add --only=//a:b --benchmark=BM_X"},
          {AuditFinding::Kind::kLoose, "t.textproto:4", "far\nabove", ""},
          {AuditFinding::Kind::kLoose, "t.textproto:9", "far", ""}};
}

TEST(AuditReportTest, ATerminalGetsAParagraphAFindingAndACount) {
  EXPECT_EQ(ReportText(MakeAuditReport(Example())),
            R"text(Audit of the gates

unguarded //a:b BM_X: no rule judges it; add one with:
    bazel run //gates:update -- --add --only=//a:b --benchmark=BM_X

loose t.textproto:4: far
    above

loose t.textproto:9: far

found 1 unguarded, 2 loose
)text");
  EXPECT_EQ(ReportText(MakeAuditReport({})),
            "Audit of the gates\n\nnothing found\n");
}

TEST(AuditReportTest, EachFormatHasTheCommand) {
  for (const char* const format : {"text", "json", "markdown", "html"}) {
    const std::string text =
        WriteReportAs(format, MakeAuditReport(Example()), {200});
    EXPECT_THAT(text, HasSubstr("--only=//a:b --benchmark=BM")) << format;
    EXPECT_THAT(text, HasSubstr("1 unguarded, 2 loose")) << format;
  }
}

TEST(AuditReportTest, ProgramsReadARowAFinding) {
  const auto json = nlohmann::ordered_json::parse(
      WriteReportAs("json", MakeAuditReport(Example())));
  const auto& rows = json["tables"]["findings"]["rows"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1]["kind"], "loose");
  EXPECT_EQ(rows[1]["message"], "far\nabove");
}

}  // namespace
}  // namespace footprint
