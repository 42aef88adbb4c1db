#include "footprint/base/text/format_bytes.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

TEST(FormatBytesTest, ShowsRoundedAndExact) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.00 KiB (1,024 B)");
  EXPECT_EQ(FormatBytes(1572864), "1.50 MiB (1,572,864 B)");
  EXPECT_EQ(FormatBytes(-1572864), "-1.50 MiB (-1,572,864 B)");
  EXPECT_EQ(FormatBytes(kLargest), "8.00 EiB (9,223,372,036,854,775,807 B)");
  EXPECT_EQ(FormatBytes(kSmallest), "-8.00 EiB (-9,223,372,036,854,775,808 B)");
}

TEST(FormatBytesTest, RoundsToThreeFigures) {
  EXPECT_EQ(FormatRoundedBytes(10229), "9.99 KiB");
  EXPECT_EQ(FormatRoundedBytes(10239), "10.0 KiB");
  EXPECT_EQ(FormatRoundedBytes(102399), "100 KiB");
  EXPECT_EQ(FormatRoundedBytes(1023 * 1024), "1,023 KiB");
  EXPECT_EQ(FormatRoundedBytes(1024 * 1024 - 1), "1.00 MiB");
}

TEST(FormatBytesTest, GroupsDigits) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(-1000), "-1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
}

// The exact figure is the number once its commas are removed.
TEST(FormatBytesTest, CountsReadBackAsTheNumber) {
  std::mt19937_64 random(2026);
  for (int round = 0; round < 10000; ++round) {
    const auto count = static_cast<int64_t>(random() >> (random() % 64)) *
                       (round % 2 == 0 ? 1 : -1);
    std::string digits;
    for (char c : FormatCount(count)) {
      if (c != ',') digits += c;
    }
    EXPECT_EQ(std::strtoll(digits.c_str(), nullptr, 10), count);
  }
}

TEST(AbbreviateBytesTest, KeepsTwoToFourDigits) {
  EXPECT_EQ(AbbreviateBytes(0), "0 B");
  EXPECT_EQ(AbbreviateBytes(1023), "1023 B");
  EXPECT_EQ(AbbreviateBytes(1024), "1.0 KiB");
  EXPECT_EQ(AbbreviateBytes(10 * 1024), "10 KiB");
  EXPECT_EQ(AbbreviateBytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(AbbreviateBytes(1.5 * 1024 * 1024), "1.5 MiB");
  EXPECT_EQ(AbbreviateBytes(-2048), "-2.0 KiB");
  EXPECT_EQ(AbbreviateBytes(5e15), "4547 TiB");
}

}  // namespace
}  // namespace footprint
