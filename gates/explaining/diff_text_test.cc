#include "footprint/gates/explaining/diff_text.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
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

TEST(DiffTextTest, IsATreeWithRoundedAndExactFigures) {
  EXPECT_EQ(WriteDiffText(Example(), ReportTextOptions()), R"text(//a:b
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

TEST(DiffTextTest, NothingDiffers) {
  ProfileDiff diff;
  diff.same_count = 3;
  EXPECT_EQ(WriteDiffText(diff, ReportTextOptions()), "same: 3 deployments\n");
}

TEST(DiffTextTest, UnknownIsAWord) {
  DiffNode node;
  MetricChange change = Change(PEAK_LIVE_USABLE_BYTES, 5, 6);
  change.after.reset();
  EXPECT_EQ(DescribeChange(node, change), "peak live 5 B -> unknown");
  node.presence = DiffNode::Presence::kRemoved;
  EXPECT_EQ(DescribeChange(node, change), "peak live 5 B");
}

TEST(DiffTextTest, FitsTheTerminal) {
  ProfileDiff diff = Example();
  diff.deployments[0].children[0].name =
      "a_benchmark_with_a_long_name/features:1000/rows:200000/io:mapped/"
      "and:more\x1b[2J";
  ReportTextOptions options;
  for (const size_t width : {40, 60, 80}) {
    options.width = width;
    const std::string text = WriteDiffText(diff, options);
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
    EXPECT_THAT(text, testing::Not(HasSubstr("\x1b")));
  }
  options.has_colour = true;
  EXPECT_THAT(WriteDiffText(diff, options), HasSubstr("\x1b[1m//a:b\x1b[0m"));
}

TEST(DiffTextTest, ProgramsReadTheSame) {
  const nlohmann::json json = nlohmann::json::parse(WriteDiffJson(Example()));
  EXPECT_EQ(json["same_deployments"], 3);
  const nlohmann::json& deployment = json["deployments"][0];
  EXPECT_EQ(deployment["changes"][0]["growth"], 1048576);
  EXPECT_EQ(deployment["children"][0]["children"][1]["kind"], "site");
  EXPECT_EQ(json["deployments"][1]["presence"], "added");
}

}  // namespace
}  // namespace footprint
