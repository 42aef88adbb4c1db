#include "footprint/gates/importing/foreign_figures.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

ForeignFigures Figures(const std::string& tool, const std::string& benchmark,
                       int64_t bytes) {
  ForeignFigures figures;
  figures.tool = tool;
  figures.counts = "requested bytes";
  figures.peaks.push_back(
      {benchmark, PEAK_LIVE_REQUESTED_BYTES, bytes, {{"f", bytes}}});
  return figures;
}

TEST(ForeignFiguresTest, TheHighestOfAllFilesStays) {
  ForeignFigures all;
  for (const int64_t bytes : {5, 9, 7}) {
    ASSERT_THAT(AddFigures(Figures("massif", "", bytes), &all), IsOk());
  }
  ASSERT_THAT(AddFigures(Figures("massif", "other", 1), &all), IsOk());
  EXPECT_EQ(all.file_count, 4);
  ASSERT_EQ(all.peaks.size(), 2u);
  EXPECT_EQ(all.peaks[0].bytes, 9);
  EXPECT_EQ(all.peaks[0].sites[0].live_bytes, 9);
}

TEST(ForeignFiguresTest, ToolsAndBytesAreNotMixed) {
  ForeignFigures all = Figures("massif", "", 5);
  EXPECT_THAT(
      AddFigures(Figures("pprof", "", 5), &all),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is of pprof")));
  ForeignFigures pages = Figures("massif", "", 5);
  pages.peaks[0].metric = PEAK_MAPPED_BYTES;
  EXPECT_THAT(AddFigures(pages, &all),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("counts other bytes")));
}

TEST(ForeignFiguresTest, AProfileSaysWhatItIs) {
  ForeignFigures figures = Figures("massif", "", 5);
  figures.file_count = 2;
  const MemoryProfile profile = ProfileOfFigures(figures, "//a:b", "serve");
  EXPECT_EQ(profile.label(), "//a:b");
  EXPECT_EQ(profile.imported().tool(), "massif");
  EXPECT_EQ(profile.imported().file_count(), 2);
  EXPECT_EQ(profile.process_count(), 0);
  EXPECT_EQ(profile.remarks(0).text(),
            "requested bytes, the highest of 2 files");
  ASSERT_EQ(profile.benchmarks_size(), 1);
  EXPECT_EQ(profile.benchmarks(0).name(), "serve");
  EXPECT_EQ(profile.benchmarks(0).metrics(0).determinism(), STATISTICAL);
  EXPECT_EQ(profile.benchmarks(0).metrics(0).value(), 5);
}

TEST(ForeignFiguresTest, SitesOfOneNameAreAddedUp) {
  ForeignFigures figures = Figures("massif", "", 100);
  figures.peaks[0].sites = {{"a", 1}, {"b", 5}, {"a", 10}, {"none", 0}};
  for (int i = 0; i < 100; ++i) {
    figures.peaks[0].sites.push_back({absl::StrCat("c", i), 2});
  }
  const MemoryProfile profile = ProfileOfFigures(figures, "//a:b", "serve");
  const auto& sites = profile.benchmarks(0).peak_attribution();
  ASSERT_EQ(sites.size(), 50);
  EXPECT_EQ(sites[0].site(), "a");
  EXPECT_EQ(sites[0].live_bytes(), 11);
  EXPECT_EQ(sites[1].site(), "b");
}

// A file of samples beside one that counts each byte.
TEST(ForeignFiguresTest, TheCountsAreThoseOfTheHighestFile) {
  ForeignFigures all;
  ASSERT_THAT(AddFigures(Figures("gperftools", "", 5), &all), IsOk());
  ForeignFigures sampled = Figures("gperftools", "", 9);
  sampled.counts = "sampled bytes";
  ASSERT_THAT(AddFigures(sampled, &all), IsOk());
  EXPECT_EQ(all.counts, "sampled bytes");
  ASSERT_THAT(AddFigures(Figures("gperftools", "", 7), &all), IsOk());
  EXPECT_EQ(all.counts, "sampled bytes");
  EXPECT_EQ(all.file_count, 3);
}

TEST(ForeignFiguresTest, AFileMayHaveABenchmarkTwice) {
  ForeignFigures more = Figures("tool", "a", 1);
  more.peaks.push_back(more.peaks[0]);
  more.peaks[1].bytes = 2;
  ForeignFigures all;
  ASSERT_THAT(AddFigures(more, &all), IsOk());
  ASSERT_EQ(all.peaks.size(), 1u);
  EXPECT_EQ(all.peaks[0].bytes, 2);
}

}  // namespace
}  // namespace footprint
