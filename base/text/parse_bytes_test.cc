#include "footprint/base/text/parse_bytes.h"

#include <cstdint>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

TEST(ParseBytesTest, ReadsWhatPeopleWrite) {
  // region example
  EXPECT_EQ(*ParseBytes("16MiB"), 16777216);
  EXPECT_EQ(*ParseBytes("1.5 GiB"), 1610612736);
  EXPECT_THAT(
      ParseBytes("16 MB of RAM"),
      StatusIs(absl::StatusCode::kInvalidArgument));  // it says what would do
  // endregion
}

TEST(ParseBytesTest, KnowsEveryUnit) {
  EXPECT_EQ(*ParseBytes("0"), 0);
  EXPECT_EQ(*ParseBytes("4096"), 4096);
  EXPECT_EQ(*ParseBytes("4096B"), 4096);
  EXPECT_EQ(*ParseBytes("3KiB"), 3072);
  EXPECT_EQ(*ParseBytes("600MiB"), 600 << 20);
  EXPECT_EQ(*ParseBytes("2 GiB"), int64_t{2} << 30);
  EXPECT_EQ(*ParseBytes("1TiB"), int64_t{1} << 40);
  EXPECT_EQ(*ParseBytes("3kB"), 3000);
  EXPECT_EQ(*ParseBytes("3MB"), 3000000);
  EXPECT_EQ(*ParseBytes("3GB"), int64_t{3000000000});
  EXPECT_EQ(*ParseBytes("3TB"), int64_t{3000000000000});
}

TEST(ParseBytesTest, ReadsDecimalFractions) {
  EXPECT_EQ(*ParseBytes("1.5 GiB"), 1610612736);
  EXPECT_EQ(*ParseBytes("0.5GB"), 500000000);
  EXPECT_EQ(*ParseBytes("0.1KiB"), 102);  // 102.4, rounded down
  for (const char* text : {"0.9", "1.5 B", "1.5B", "1.0"}) {
    EXPECT_THAT(ParseBytes(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::HasSubstr("a byte has no fraction")))
        << text;
  }
}

TEST(ParseBytesTest, IsExactUpToTheLargest) {
  EXPECT_EQ(*ParseBytes("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(*ParseBytes("9007199254740993"), 9007199254740993);
  EXPECT_EQ(*ParseBytes("8388607TiB"), int64_t{8388607} << 40);
  EXPECT_EQ(*ParseBytes("0000000000000000000001KiB"), 1024);
  EXPECT_THAT(ParseBytes("9223372036854775808"), Not(IsOk()));
  EXPECT_THAT(ParseBytes("8388608TiB"), Not(IsOk()));
  EXPECT_THAT(ParseBytes("999999999999999999999999TiB"), Not(IsOk()));
}

TEST(ParseBytesTest, RefusesTheRest) {
  for (const char* text : {"",
                           " ",
                           "MiB",
                           "-1",
                           "+1",
                           " 1",
                           "1.",
                           ".5MiB",
                           "1.2.3",
                           "1mib",
                           "16 mib",
                           "1M",
                           "0x10",
                           "1e6",
                           "1 MiB ",
                           "1  MiB",
                           "nan",
                           "inf",
                           "1MiBMiB",
                           "99999999999GiB",
                           "99999999999999999999999999"}) {
    const absl::Status status = ParseBytes(text).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_NE(std::string(status.message()).find(text), std::string::npos);
  }
}

TEST(ParseBytesTest, RandomTextIsReadOrRefused) {
  std::mt19937 random(11);
  const std::string alphabet = "0123456789KMGTiB -+.\n\0x";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t size = random() % 12; size > 0; --size) {
      text += alphabet[random() % alphabet.size()];
    }
    const absl::StatusOr<int64_t> bytes = ParseBytes(text);
    if (bytes.ok()) {
      EXPECT_GE(*bytes, 0) << text;
      EXPECT_TRUE(text[0] >= '0' && text[0] <= '9') << text;
    }
  }
}

}  // namespace
}  // namespace footprint
