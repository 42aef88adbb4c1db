#include "footprint/gates/judge/written_limit.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/judge/gate.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr MetricKind kPeak = PEAK_LIVE_USABLE_BYTES;
constexpr MetricKind kCalls = ALLOCATION_COUNT;

int64_t NumberOf(const std::string& text, MetricKind metric = kPeak) {
  const absl::StatusOr<WrittenLimit> limit = ParseWrittenLimit(text, metric);
  EXPECT_THAT(limit, IsOk()) << text;
  return limit.ok() ? limit->ComputeNumber(metric) : -1;
}

TEST(WrittenLimitTest, ReadsUnitsAndDistances) {
  EXPECT_EQ(NumberOf("24 MB"), 24000000);
  EXPECT_EQ(NumberOf("1.5 GiB"), 1610612736);
  EXPECT_EQ(NumberOf(" 4096 "), 4096);
  EXPECT_EQ(NumberOf("20 MB + 10 %"), 22000000);
  EXPECT_EQ(NumberOf("20MB+10%"), 22000000);
  EXPECT_EQ(NumberOf("20 MB + 0.5 %"), 20100000);
  EXPECT_EQ(NumberOf("20 MB + 1 KiB"), 20001024);
  EXPECT_EQ(NumberOf("0 B + 1 MB"), 1000000);
  EXPECT_EQ(NumberOf("+ 10 %"), 0);
  EXPECT_EQ(NumberOf("1000", kCalls), 1000);
  EXPECT_EQ(NumberOf("1000 + 10 %", kCalls), 1100);
  EXPECT_EQ(NumberOf("1000 + 5", kCalls), 1005);
  // No sum is above the largest limit that a value can exceed.
  EXPECT_EQ(NumberOf("9223372036854775807 + 10 %"),
            std::numeric_limits<int64_t>::max() - 1);
}

TEST(WrittenLimitTest, RefusesWhatIsNone) {
  const auto expect = [](const char* text, MetricKind metric,
                         const char* message) {
    EXPECT_THAT(
        ParseWrittenLimit(text, metric),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << text;
  };
  expect("24 Mb", kPeak, "\"Mb\" is not B, KiB, MiB");
  expect("24 furlongs", kPeak, "\"furlongs\" is not B, KiB, MiB");
  expect("", kPeak, "must begin with a digit");
  expect("-1 MB", kPeak, "must begin with a digit");
  expect("MB", kPeak, "must begin with a digit");
  expect("24 MB + ", kPeak, "must begin with a digit");
  expect("24 MB + 10 percent", kPeak, "\"percent\" is not B");
  expect("24 MB + %", kPeak, "is not a percentage");
  expect("24 MB + -1 %", kPeak, "is not a percentage");
  expect("24 MB + 1e999 %", kPeak, "is not a percentage");
  expect("24 MB + 1 MB + 1 MB", kPeak, "is not a number of bytes");
  expect("9999999 TB", kPeak, "2^63 or more");
  expect("24 MB", kCalls, "is not a number of calls");
  expect("1.5", kCalls, "is not a number of calls");
}

Threshold MakeThreshold(const std::string& max, const std::string& min = "") {
  Threshold threshold;
  threshold.set_metric(kPeak);
  threshold.set_max(max);
  threshold.set_min(min);
  return threshold;
}

TEST(WrittenLimitTest, SetsNumbersBesideTexts) {
  Threshold threshold = MakeThreshold("2 MB", "1 MB");
  EXPECT_THAT(ResolveWrittenLimits(&threshold), IsEmpty());
  EXPECT_EQ(threshold.max_bytes(), 2000000);
  EXPECT_EQ(threshold.min_bytes(), 1000000);
  Threshold calls = MakeThreshold("20", "10");
  calls.set_metric(kCalls);
  EXPECT_THAT(ResolveWrittenLimits(&calls), IsEmpty());
  EXPECT_EQ(calls.max_count(), 20);
  EXPECT_EQ(calls.min_count(), 10);
  Threshold none = MakeThreshold("");
  EXPECT_THAT(ResolveWrittenLimits(&none), IsEmpty());
  EXPECT_EQ(none.rule_case(), Threshold::RULE_NOT_SET);
}

TEST(WrittenLimitTest, NamesTheFieldOfAMistake) {
  Threshold threshold = MakeThreshold("2 Mb", "+ 1 MB");
  std::vector<RuleMistake> mistakes = ResolveWrittenLimits(&threshold);
  ASSERT_THAT(mistakes, SizeIs(2));
  EXPECT_STREQ(mistakes[0].field, "max");
  EXPECT_THAT(mistakes[0].message, HasSubstr("max is \"2 Mb\": "));
  EXPECT_STREQ(mistakes[1].field, "min");
  EXPECT_EQ(threshold.rule_case(), Threshold::RULE_NOT_SET);
  Threshold twice = MakeThreshold("2 MB", "1 MB");
  twice.set_exact_bytes(3);
  twice.set_min_bytes(3);
  mistakes = ResolveWrittenLimits(&twice);
  ASSERT_THAT(mistakes, SizeIs(2));
  EXPECT_THAT(mistakes[0].message, HasSubstr("beside another maximum"));
  EXPECT_THAT(mistakes[1].message, HasSubstr("beside another minimum"));
}

TEST(WrittenLimitTest, ADistanceAloneAwaitsItsFigure) {
  EXPECT_TRUE(AwaitsFigure(MakeThreshold("+ 10 %")));
  EXPECT_TRUE(AwaitsFigure(MakeThreshold(" +1 MB")));
  EXPECT_FALSE(AwaitsFigure(MakeThreshold("24 MB + 10 %")));
  EXPECT_FALSE(AwaitsFigure(MakeThreshold("24 MB")));
  EXPECT_FALSE(AwaitsFigure(MakeThreshold("")));
}

TEST(WrittenLimitTest, NewFiguresKeepTheUnit) {
  EXPECT_EQ(RewriteMaximum("24 MB", kPeak, 0, 25123456), "25.2 MB");
  EXPECT_EQ(RewriteMaximum("24 MB", kPeak, 0, 25000000), "25 MB");
  EXPECT_EQ(RewriteMaximum("24.000 MB", kPeak, 0, 25123456), "25.124 MB");
  EXPECT_EQ(RewriteMaximum("1.5GiB", kPeak, 0, 1610612737), "1.51GiB");
  EXPECT_EQ(RewriteMaximum("24 MB", kPeak, 0, 123456789), "124 MB");
  EXPECT_EQ(RewriteMaximum("24 MB", kPeak, 0, 512), "0.000512 MB");
  EXPECT_EQ(RewriteMaximum("24 MB", kPeak, 0, 0), "0 MB");
  EXPECT_EQ(RewriteMaximum("24 MB", kPeak, 0, -8), "0 MB");
  EXPECT_EQ(RewriteMaximum("4096", kPeak, 0, 5001), "5001");
  EXPECT_EQ(RewriteMaximum("4096 B", kPeak, 0, 5001), "5001 B");
  EXPECT_EQ(RewriteMaximum("10", kCalls, 0, 12345), "12345");
  EXPECT_EQ(RewriteMaximum("20 MB + 10 %", kPeak, 21712345, 99),
            "21.8 MB + 10 %");
  EXPECT_EQ(RewriteMaximum("+ 10 %", kPeak, 21712345, 99), "21.8 MB + 10 %");
  EXPECT_EQ(RewriteMaximum("+10%", kPeak, 999, 99), "999 B +10%");
  EXPECT_EQ(RewriteMaximum("+ 10 %", kPeak, 1000, 99), "1 kB + 10 %");
  EXPECT_EQ(RewriteMaximum("+ 10 %", kCalls, 1234, 99), "1234 + 10 %");
  EXPECT_EQ(RewriteMinimum("20 MB", kPeak, 21712345), "21.7 MB");
  EXPECT_EQ(RewriteMinimum("20", kCalls, 21), "21");
}

// Rounding never makes a limit that the measured value would exceed.
TEST(WrittenLimitTest, ANewFigureHoldsAndIsNear) {
  std::mt19937_64 random(1);
  const std::vector<std::string> kForms = {
      "1",    "1 B",  "1 kB",    "1.00 MB",    "1 GB",
      "1 TB", "1KiB", "1.5 MiB", "1.1234 GiB", "1 TiB"};
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<int64_t>(random() >> (1 + random() % 63));
    const std::string& form = kForms[random() % kForms.size()];
    const int64_t most = NumberOf(RewriteMaximum(form, kPeak, 0, value));
    const int64_t least = NumberOf(RewriteMinimum(form, kPeak, value));
    ASSERT_GE(most, value) << form;
    ASSERT_LE(least, value) << form;
    // The figure has three digits, but none below a byte in TB.
    ASSERT_LE(most - value, value / 100 + 2) << form << " " << value;
    ASSERT_LE(value - least, value / 100 + 2) << form << " " << value;
    // A number that is written comes back as it is.
    const std::string text = RewriteMaximum(form, kPeak, 0, value);
    ASSERT_EQ(NumberOf(RewriteMaximum(text, kPeak, 0, most)), most) << text;
  }
}

}  // namespace
}  // namespace footprint
