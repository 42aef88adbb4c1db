#include "footprint/profiling/reports/report_threshold.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ReportThresholdTest, IsAShareOrAFigure) {
  auto threshold = ParseMemoryThreshold("2.5%");
  ASSERT_THAT(threshold, IsOk());
  EXPECT_TRUE(threshold->Hides(24, 1000));
  EXPECT_FALSE(threshold->Hides(25, 1000));
  threshold = ParseMemoryThreshold("64KiB");
  ASSERT_THAT(threshold, IsOk());
  EXPECT_TRUE(threshold->Hides(65535, 1));
  EXPECT_FALSE(threshold->Hides(65536, int64_t{1} << 60));
  EXPECT_FALSE(ReportThreshold().Hides(0, 0));
}

// Neither 7 % of 100 nor 0.7 % of 1,000 is exact in binary.
TEST(ReportThresholdTest, ExactlyThePercentageIsShown) {
  for (int tenths = 1; tenths <= 1000; ++tenths) {
    const auto threshold =
        ParseShareThreshold(absl::StrCat(tenths / 10, ".", tenths % 10, "%"));
    ASSERT_THAT(threshold, IsOk());
    EXPECT_FALSE(threshold->Hides(tenths, 1000)) << tenths;
    EXPECT_TRUE(threshold->Hides(tenths - 1, 1000)) << tenths;
  }
}

TEST(ReportThresholdTest, OthersAreRefused) {
  for (const char* text : {"", "%", "-1%", "101%", "nan%", "x%"}) {
    EXPECT_THAT(ParseMemoryThreshold(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
    EXPECT_THAT(ParseShareThreshold(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
  EXPECT_THAT(ParseMemoryThreshold("many"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("such as 64KiB")));
  EXPECT_THAT(ParseShareThreshold("64KiB"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
