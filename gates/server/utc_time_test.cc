#include "footprint/gates/server/utc_time.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(UtcTimeTest, WritesTheDateAndTheSecond) {
  // Compared with `date -u -d @SECONDS +%FT%TZ`.
  EXPECT_EQ(FormatUtcTime(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatUtcTime(-1), "1969-12-31T23:59:59Z");
  EXPECT_EQ(FormatUtcTime(951782399), "2000-02-28T23:59:59Z");
  EXPECT_EQ(FormatUtcTime(951782400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(FormatUtcTime(1764400000), "2025-11-29T07:06:40Z");
  EXPECT_EQ(FormatUtcTime(4102444800), "2100-01-01T00:00:00Z");
}

TEST(UtcTimeTest, AnyNumberIsATime) {
  EXPECT_EQ(FormatUtcTime(INT64_MAX), "292277026596-12-04T15:30:07Z");
  EXPECT_EQ(FormatUtcTime(INT64_MIN), "-292277022657-01-27T08:29:52Z");
}

}  // namespace
}  // namespace footprint
