#include "footprint/gates/explaining/diff_report.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "footprint/base/report/report_formats.h"
#include "footprint/base/text/wrap_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using testing::HasSubstr;

MetricChange Change(MetricKind metric, int64_t before, int64_t after) {
  MetricChange change;
  change.metric = metric;
  change.before = before;
  change.after = after;
  return change;
}

ProfileDiff Example() {
  DiffNode site;
  site.kind = DiffNode::Kind::kSite;
  site.name = "tensor:conv1/weights";
  site.changes = {Change(PEAK_LIVE_USABLE_BYTES, 0, 524288)};
  DiffNode phase;
  phase.kind = DiffNode::Kind::kPhase;
  phase.name = "fit";
  phase.changes = {Change(ALLOCATION_COUNT, 400, 388)};
  DiffNode benchmark;
  benchmark.kind = DiffNode::Kind::kBenchmark;
  benchmark.name = "BM_Fit/rows:10";
  benchmark.changes = {Change(PEAK_LIVE_USABLE_BYTES, 2097152, 3145728)};
  benchmark.children = {phase, site};
  DiffNode deployment;
  deployment.name = "//a:b";
  deployment.changes = benchmark.changes;
  deployment.children = {benchmark};
  deployment.notes = {"the new one was killed\nlast words"};
  DiffNode added;
  added.name = "//c:d";
  added.presence = DiffNode::Presence::kAdded;
  ProfileDiff diff;
  diff.deployments = {deployment, added};
  diff.same_count = 3;
  return diff;
}

TEST(DiffReportTest, IsATreeWithRoundedAndExactFigures) {
  EXPECT_EQ(ReportText(MakeDiffReport(Example())), R"text(//a:b
  ! the new one was killed
  ! last words
  peak live +1.00 MiB (+1,048,576 B, +50.0 %): 2,097,152 B -> 3,145,728 B
  BM_Fit/rows:10
    peak live +1.00 MiB (+1,048,576 B, +50.0 %): 2,097,152 B -> 3,145,728 B
    phase fit
      allocations -12 (-3.0 %): 400 -> 388
    held at the peak:
      tensor:conv1/weights  +512 KiB (+524,288 B): 0 B -> 524,288 B

//c:d  (new)

differs: 2 of 5 deployments; the highest peak of 1 grew, of 0 shrank
)text");
}

TEST(DiffReportTest, MappingsHaveAHeadingOfTheirOwn) {
  ProfileDiff diff = Example();
  DiffNode& benchmark = diff.deployments[0].children[0];
  benchmark.children.push_back(benchmark.children[1]);
  benchmark.children[2].kind = DiffNode::Kind::kMapping;
  benchmark.children[2].changes[0].metric = PEAK_MAPPED_BYTES;
  EXPECT_THAT(ReportText(MakeDiffReport(diff)),
              HasSubstr("    held at the peak:\n"
                        "      tensor:conv1/weights  +512 KiB (+524,288 B): "
                        "0 B -> 524,288 B\n"
                        "    mapped at the peak:\n"
                        "      tensor:conv1/weights  +512 KiB (+524,288 B): "
                        "0 B -> 524,288 B\n"));
}

TEST(DiffReportTest, NothingDiffers) {
  ProfileDiff diff;
  diff.same_count = 3;
  EXPECT_EQ(ReportText(MakeDiffReport(diff)), "same: 3 deployments\n");
}

TEST(DiffReportTest, UnknownIsAWord) {
  DiffNode node;
  MetricChange change = Change(PEAK_LIVE_USABLE_BYTES, 5, 6);
  change.after.reset();
  EXPECT_EQ(DescribeChange(node, change), "peak live 5 B -> unknown");
  node.presence = DiffNode::Presence::kRemoved;
  EXPECT_EQ(DescribeChange(node, change), "peak live 5 B");
}

TEST(DiffReportTest, FitsTheTerminal) {
  ProfileDiff diff = Example();
  diff.deployments[0].children[0].name =
      "a_benchmark_with_a_long_name/features:1000/rows:200000/io:mapped/"
      "and:more\x1b[2J";
  ReportTextOptions options;
  for (const size_t width : {40, 60, 80}) {
    options.width = width;
    const std::string text = ReportText(MakeDiffReport(diff), options);
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
    EXPECT_THAT(text, testing::Not(HasSubstr("\x1b")));
  }
}

TEST(DiffReportTest, EachFormatHasEveryFigure) {
  for (const char* const format : {"text", "json", "markdown", "html"}) {
    const std::string text = WriteReportAs(format, MakeDiffReport(Example()));
    for (const char* const word :
         {"//a:b", "BM", "Fit/rows:10", "+1,048,576 B", "3,145,728 B", "fit",
          "allocations -12", "conv1/weights", "+524,288 B", "//c:d",
          "differs: 2 of 5 deployments"}) {
      const std::string shown =
          std::string(format) == "html" && word[0] == 'd' ? word + 1 : word;
      EXPECT_THAT(text, HasSubstr(shown)) << format;
    }
  }
}

TEST(DiffReportTest, ProgramsReadARowALine) {
  const auto json = nlohmann::ordered_json::parse(
      WriteReportAs("json", MakeDiffReport(Example())));
  EXPECT_EQ(json["figures"]["same_deployments"]["count"], 3);
  const auto& rows = json["tables"]["a_b"]["rows"];
  EXPECT_EQ(rows[0]["kind"], "deployment");
  EXPECT_EQ(rows[0]["name"], "//a:b");
  EXPECT_TRUE(rows[0]["growth"].is_null());
  EXPECT_EQ(rows[3]["metric"], "PEAK_LIVE_USABLE_BYTES");
  EXPECT_EQ(rows[3]["before"], 2097152);
  EXPECT_EQ(rows[3]["growth"], 1048576);
  EXPECT_EQ(rows[9]["kind"], "site");
  EXPECT_EQ(json["tables"]["c_d"]["rows"][0]["presence"], "added");
}

}  // namespace
}  // namespace footprint
