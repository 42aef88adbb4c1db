#include "footprint/profiling/reports/report_threshold.h"

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
