#include "footprint/gates/judge/threshold_numbers.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ThresholdNumbersTest, TheFieldsAreThoseOfTheSchema) {
  for (const NumberField& field : kNumberFields) {
    Threshold threshold;
    EXPECT_FALSE(field.IsIn(threshold)) << field.name;
    field.Set(7, &threshold);
    EXPECT_TRUE(field.IsIn(threshold)) << field.name;
    EXPECT_EQ(field.Get(threshold), 7) << field.name;
    EXPECT_EQ(FindNumber(threshold, field.kind), &field);
    const auto* in_schema =
        Threshold::descriptor()->FindFieldByName(field.name);
    ASSERT_NE(in_schema, nullptr) << field.name;
    EXPECT_TRUE(threshold.GetReflection()->HasField(threshold, in_schema));
    const bool is_in_bytes =
        std::string(field.name).find("bytes") != std::string::npos;
    EXPECT_EQ(field.unit,
              is_in_bytes ? MetricUnit::kBytes : MetricUnit::kCount);
  }
}

TEST(ThresholdNumbersTest, TheLimitIsTheMaximumOrTheExactValue) {
  Threshold threshold;
  EXPECT_FALSE(ReadNumbers(threshold).limit().has_value());
  EXPECT_EQ(FindLimit(threshold), nullptr);
  threshold.set_max_count(5);
  threshold.set_min_count(0);
  EXPECT_EQ(ReadNumbers(threshold).limit(), 5);
  EXPECT_EQ(ReadNumbers(threshold).minimum, 0);
  EXPECT_FALSE(ReadNumbers(threshold).exact.has_value());
  threshold.set_exact_bytes(0);
  EXPECT_EQ(ReadNumbers(threshold).limit(), 0);
  EXPECT_FALSE(ReadNumbers(threshold).maximum.has_value());
  EXPECT_STREQ(FindLimit(threshold)->name, "exact_bytes");
}

TEST(ThresholdNumbersTest, RatiosAreReadBackAsTheyAre) {
  EXPECT_EQ(RatioText(1.03), "1.03");
  EXPECT_EQ(RatioText(2), "2");
  EXPECT_EQ(std::stod(RatioText(1.0 / 3)), 1.0 / 3);
}

TEST(ThresholdNumbersTest, RatioLimitsAreWhatADecimalReaderExpects) {
  EXPECT_EQ(RatioLimit(0.3, 10), 3);
  EXPECT_EQ(RatioLimit(1.1, 10), 11);
  EXPECT_EQ(RatioLimit(0.57, 100), 57);
  EXPECT_EQ(RatioLimit(0.5, 3), 1);
  EXPECT_EQ(RatioLimit(2, int64_t{1} << 61), int64_t{1} << 62);
  EXPECT_EQ(RatioLimit(1e300, 1), std::numeric_limits<int64_t>::max());
  // The oracle uses integers, with the ratio in thousandths.
  std::mt19937_64 random(11);
  for (int round = 0; round < 100000; ++round) {
    const int64_t thousandths = 1 + static_cast<int64_t>(random() % 5000);
    const int64_t baseline = 1 + static_cast<int64_t>(random() % 1000000000);
    EXPECT_EQ(RatioLimit(static_cast<double>(thousandths) / 1000, baseline),
              thousandths * baseline / 1000)
        << thousandths << " " << baseline;
  }
}

}  // namespace
}  // namespace footprint
