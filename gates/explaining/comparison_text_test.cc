#include "footprint/gates/explaining/comparison_text.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/explaining/diff_text.h"
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

TEST(ComparisonTextTest, NoChangeIsOneLine) {
  const BaseComparison same =
      Compare({Profile("//a:b", 100)}, {Profile("//a:b", 100)});
  EXPECT_EQ(WriteComparisonText(same, ReportTextOptions()),
            "ACCEPT nothing differs in 1 deployment\n");
  EXPECT_EQ(WriteComparisonMarkdown(same),
            "## Memory: ACCEPT nothing differs in 1 deployment\n");
}

TEST(ComparisonTextTest, TextSaysWhatGrewAndWhy) {
  const std::string text = WriteComparisonText(Grown(), ReportTextOptions());
  EXPECT_THAT(text,
              AllOf(HasSubstr("REJECT //a:b BM_<X>|y: peak live +64 B"),
                    HasSubstr("\n    +64 B held by Table::Read\n"),
                    HasSubstr("//gone:x  (gone)"), Not(HasSubstr("//c:d"))));
  EXPECT_THAT(text,
              testing::EndsWith("REJECT 2 of 3 deployments differ: 1 over "
                                "the limit, 1 grown, 1 gone\n"));
}

TEST(ComparisonTextTest, MarkdownHasWhatDiffersAndEscapes) {
  const std::string text = WriteComparisonMarkdown(Grown());
  EXPECT_THAT(text,
              AllOf(HasSubstr("## Memory: REJECT 2 of 3 deployments differ"),
                    HasSubstr("| **REJECT** | //a:b BM\\_"),
                    HasSubstr("| gone | //gone:x |"), Not(HasSubstr("//c:d")),
                    Not(HasSubstr("<X>"))));
}

TEST(ComparisonTextTest, JsonHasFiguresAndTheTree) {
  const nlohmann::json json =
      nlohmann::json::parse(WriteComparisonJson(Grown()));
  EXPECT_EQ(json["decision"], "REJECT");
  ASSERT_EQ(json["figures"].size(), 2);
  EXPECT_EQ(json["figures"][0]["change"], "grown");
  EXPECT_EQ(json["figures"][0]["over_limit"], true);
  EXPECT_EQ(json["figures"][0]["reasons"][0], "+64 B held by Table::Read");
  EXPECT_EQ(json["diff"]["same_deployments"], 1);
}

}  // namespace
}  // namespace footprint
