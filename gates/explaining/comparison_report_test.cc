#include "footprint/gates/explaining/comparison_report.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

MemoryProfile Profile(const std::string& label, int64_t peak) {
  MemoryProfile profile;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "label: '" + label +
          "' benchmarks { name: 'BM_<X>|y' metrics { kind: "
          "PEAK_LIVE_USABLE_BYTES determinism: EXACT value: " +
          std::to_string(peak) +
          " } peak_attribution { site: 'Table::Read' live_bytes: " +
          std::to_string(peak) + " } }",
      &profile));
  return profile;
}

BaseComparison Compare(const std::vector<MemoryProfile>& base,
                       const std::vector<MemoryProfile>& change) {
  absl::StatusOr<BaseComparison> comparison =
      CompareWithBase(base, change, BaseComparisonOptions());
  EXPECT_THAT(comparison, IsOk());
  return *std::move(comparison);
}

BaseComparison Grown() {
  return Compare(
      {Profile("//a:b", 100), Profile("//c:d", 5), Profile("//gone:x", 1)},
      {Profile("//a:b", 164), Profile("//c:d", 5)});
}

TEST(ComparisonReportTest, NoChangeIsOneLine) {
  const Report same = MakeComparisonReport(
      Compare({Profile("//a:b", 100)}, {Profile("//a:b", 100)}));
  EXPECT_EQ(ReportText(same),
            "Memory against the base\n\n"
            "ACCEPT nothing differs in 1 deployment\n");
  EXPECT_THAT(WriteReportAs("markdown", same),
              AllOf(HasSubstr("## Memory against the base\n\nACCEPT nothing "
                              "differs in 1 deployment\n"),
                    Not(HasSubstr("###"))));
}

TEST(ComparisonReportTest, TextSaysWhatGrewAndWhy) {
  const std::string text = ReportText(MakeComparisonReport(Grown()));
  EXPECT_THAT(text,
              AllOf(HasSubstr("REJECT //a:b BM_<X>|y: peak live +64 B"),
                    HasSubstr("\n    +64 B held by Table::Read\n"),
                    HasSubstr("//gone:x  (gone)"), Not(HasSubstr("//c:d"))));
  EXPECT_THAT(text,
              testing::EndsWith("REJECT 2 of 3 deployments differ: 1 over "
                                "the limit, 1 grown, 1 gone\n"));
}

TEST(ComparisonReportTest, MarkdownHasWhatDiffersAndEscapes) {
  const std::string text =
      WriteReportAs("markdown", MakeComparisonReport(Grown()));
  EXPECT_THAT(text, AllOf(HasSubstr("\n\nREJECT 2 of 3 deployments differ"),
                          HasSubstr("| REJECT | //a:b BM\\_"),
                          HasSubstr("| gone | //gone:x |"),
                          Not(HasSubstr("//c:d")), Not(HasSubstr("<X>"))));
}

TEST(ComparisonReportTest, JsonHasFiguresAndTheTree) {
  const auto json = nlohmann::ordered_json::parse(
      WriteReportAs("json", MakeComparisonReport(Grown())));
  EXPECT_EQ(json["figures"]["decision"]["value"], "REJECT");
  EXPECT_EQ(json["figures"]["same_deployments"]["count"], 1);
  const auto& rows = json["tables"]["figures"]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["growth"], "grown");
  EXPECT_EQ(rows[0]["over_limit"], "yes");
  EXPECT_THAT(rows[0]["figure"], HasSubstr("\n+64 B held by Table::Read"));
  EXPECT_EQ(json["tables"]["gone_x"]["rows"][0]["presence"], "removed");
}

}  // namespace
}  // namespace footprint
