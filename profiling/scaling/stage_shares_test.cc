#include "footprint/profiling/scaling/stage_shares.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

StagedRuns Peaks() {
  StagedRuns runs;
  runs.label_names = {"features x rows", "io"};
  runs.stages = {"read", "fit"};
  runs.runs = {{"regression", {"10 x 1,000", "csv"}, {1536, 512}},
               {"network", {"10 x 1,000", "csv"}, {0, 4096}}};
  return runs;
}

std::string WriteHtml(const StagedRuns& runs, StackedBars::Scale scale) {
  Page page("title", "lead");
  page.AddViews("Show", {StageShareView(runs, scale, "name", "explanation")});
  return page.Html();
}

TEST(StageSharesTest, SharesAreOfTheSum) {
  EXPECT_EQ(StageShareText(Peaks(), "Shares"),
            "Shares\n"
            "program     features x rows   io  read    fit      sum\n"
            "network          10 x 1,000  csv   0.0  100.0  4.0 KiB\n"
            "regression       10 x 1,000  csv  75.0   25.0  2.0 KiB\n");
  EXPECT_THAT(ListPrograms(Peaks()), ElementsAre("network", "regression"));
}

TEST(StageSharesTest, ThePageShowsSharesAndBytes) {
  const std::string shares = WriteHtml(Peaks(), StackedBars::Scale::kShare);
  EXPECT_THAT(shares, HasSubstr("fit 512 B (25 %)"));
  EXPECT_THAT(shares, HasSubstr("shares of their sum"));
  EXPECT_THAT(shares, HasSubstr("The largest part of 1 run: fit in 1."));
  EXPECT_THAT(shares, HasSubstr(">1,536</td>"));
  EXPECT_THAT(WriteHtml(Peaks(), StackedBars::Scale::kAbsolute),
              HasSubstr("bytes; the sum is at its end"));
}

TEST(StageSharesTest, NearlyNothingIsNotNothing) {
  StagedRuns runs = Peaks();
  runs.stages.push_back("write");
  runs.runs = {{"regression", {"", ""}, {1000000, 1, 0}}};
  EXPECT_THAT(StageShareText(runs, "Shares"), HasSubstr(">99.9  <0.1    0.0"));
}

TEST(StageSharesTest, AnUnknownStageIsNeverAZero) {
  StagedRuns runs = Peaks();
  runs.runs[0].bytes[1] = absl::nullopt;
  const std::string text = StageShareText(runs, "Shares");
  EXPECT_THAT(text, HasSubstr("?      ?  >=1.5 KiB\n"));
  EXPECT_THAT(text, HasSubstr("?: unknown"));
  EXPECT_THAT(StageShareText(Peaks(), ""), Not(HasSubstr("?")));
  const std::string html = WriteHtml(runs, StackedBars::Scale::kShare);
  EXPECT_THAT(html, HasSubstr("not known in 1"));
  EXPECT_THAT(html, HasSubstr("at least 1,536"));
  EXPECT_THAT(html, HasSubstr("Such a run has no shares"));
}

}  // namespace
}  // namespace footprint
