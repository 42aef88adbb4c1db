#include "footprint/gates/importing/heaptrack_summary.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/importing/testdata_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

std::string Summary(const std::string& peak) {
  return absl::StrCat("total runtime: 1s.\npeak heap memory consumption: ",
                      peak, "\ntotal memory leaked: 0B\n");
}

int64_t ReadPeak(const std::string& peak) {
  const auto figures = ParseHeaptrackSummary(Summary(peak));
  EXPECT_THAT(figures, IsOk()) << peak;
  return figures.ok() ? figures->peaks[0].bytes : -1;
}

// The program held 4,080,896 bytes, which is printed as 4.08M.
TEST(HeaptrackSummaryTest, ARealSummary) {
  const auto figures = ParseHeaptrackSummary(TestdataFile("heaptrack.txt"));
  ASSERT_THAT(figures, IsOk());
  EXPECT_EQ(figures->tool, "heaptrack");
  EXPECT_EQ(figures->peaks[0].bytes, 4085000);
  EXPECT_GE(figures->peaks[0].bytes, 4080896);
}

TEST(HeaptrackSummaryTest, TheLargestSizeThatIsPrintedSo) {
  EXPECT_EQ(ReadPeak("0B"), 0);
  EXPECT_EQ(ReadPeak("512B"), 512);
  EXPECT_EQ(ReadPeak("72.70K"), 72705);
  EXPECT_EQ(ReadPeak("72.70KB"), 72705);
  EXPECT_EQ(ReadPeak("1000.00K"), 1000005);
  EXPECT_EQ(ReadPeak("4M"), 4500000);
  EXPECT_EQ(ReadPeak("1.50G"), 1505000000);
  EXPECT_EQ(ReadPeak("2.00T"), 2005000000000);
}

TEST(HeaptrackSummaryTest, WhatIsNoSizeIsRefused) {
  for (const char* peak : {"", "M", "x", "-4M", "4.0.8M", "4P", "nanM", "infB",
                           "1e9B", "9999999999999T", "0x10B"}) {
    EXPECT_THAT(ParseHeaptrackSummary(Summary(peak)), testing::Not(IsOk()))
        << peak;
  }
}

TEST(HeaptrackSummaryTest, ACutSummaryIsRefused) {
  const std::string whole = TestdataFile("heaptrack.txt");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ParseHeaptrackSummary(whole.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")));
  }
}

TEST(HeaptrackSummaryTest, KnowsItsText) {
  EXPECT_TRUE(LooksLikeHeaptrack(TestdataFile("heaptrack.txt")));
  EXPECT_TRUE(LooksLikeHeaptrack(Summary("1M")));
  EXPECT_FALSE(LooksLikeHeaptrack(Summary("1M") + std::string(1, '\0')));
  EXPECT_FALSE(LooksLikeHeaptrack(TestdataFile("google_benchmark.json")));
}

}  // namespace
}  // namespace footprint
