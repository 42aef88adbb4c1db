#include "footprint/gates/explaining/audit_text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

std::vector<AuditFinding> Example() {
  return {{AuditFinding::Kind::kUnguarded, "//a:b BM_X",
           "no rule judges it; add one with: bazel run //gates:update -- --add "
           "--only=//a:b --benchmark=BM_X"},
          {AuditFinding::Kind::kLoose, "t.textproto:4", "far\nabove"},
          {AuditFinding::Kind::kLoose, "t.textproto:9", "far"}};
}

TEST(AuditTextTest, AParagraphAFindingAndACount) {
  EXPECT_EQ(WriteAuditText(Example(), ReportOptions()),
            R"text(unguarded //a:b BM_X: no rule judges it; add one with:
    bazel run //gates:update -- --add --only=//a:b --benchmark=BM_X

loose t.textproto:4: far
    above

loose t.textproto:9: far

found 1 unguarded, 2 loose
)text");
  EXPECT_EQ(WriteAuditText({}, ReportOptions()), "nothing found\n");
}

TEST(AuditTextTest, IsColouredOnDemand) {
  ReportOptions options;
  options.has_colour = true;
  EXPECT_THAT(WriteAuditText(Example(), options),
              testing::HasSubstr("\x1b[33mloose\x1b[0m t.textproto:9: far\n"));
}

TEST(AuditTextTest, ProgramsReadTheSame) {
  const nlohmann::json json = nlohmann::json::parse(WriteAuditJson(Example()));
  ASSERT_EQ(json["findings"].size(), 3U);
  EXPECT_EQ(json["findings"][1]["kind"], "loose");
}

}  // namespace
}  // namespace footprint
