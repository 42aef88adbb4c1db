#include "footprint/profiling/schema/metric_reading.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Expects each kind of knowledge, for a benchmark and for a phase in it.
template <typename Measured>
void ExpectReadings(Measured measured) {
  Metric* zero = measured.add_metrics();
  zero->set_kind(NET_GROWTH_USABLE_BYTES);
  zero->set_determinism(EXACT);
  zero->set_value(0);
  measured.add_unrepeated(ALLOCATED_USABLE_BYTES);
  measured.add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  measured.add_order_dependent(PEAK_LIVE_USABLE_BYTES);

  const MetricReading known = ReadMetric(measured, NET_GROWTH_USABLE_BYTES);
  EXPECT_EQ(known.knowledge, MetricKnowledge::kKnown);
  EXPECT_EQ(known.bytes_or_count, 0);

  const MetricReading differed = ReadMetric(measured, ALLOCATED_USABLE_BYTES);
  EXPECT_EQ(differed.knowledge, MetricKnowledge::kDiffered);
  EXPECT_EQ(differed.bytes_or_count, absl::nullopt);

  const MetricReading peak = ReadMetric(measured, PEAK_LIVE_USABLE_BYTES);
  EXPECT_EQ(peak.knowledge, MetricKnowledge::kOrderDependent);
  EXPECT_EQ(peak.bytes_or_count, absl::nullopt);

  const MetricReading image = ReadMetric(measured, IMAGE_BYTES);
  EXPECT_EQ(image.knowledge, MetricKnowledge::kNotMeasured);
  EXPECT_EQ(image.bytes_or_count, absl::nullopt);
}

TEST(MetricReadingTest, TellsUnknownFromZero) {
  ExpectReadings(BenchmarkMemory());
}

TEST(MetricReadingTest, TellsUnknownFromZeroInAPhase) {
  ExpectReadings(Phase());
}

TEST(MetricReadingTest, SaysWhyInWords) {
  EXPECT_STREQ(WhyUnknown(MetricKnowledge::kKnown), "");
  EXPECT_STREQ(WhyUnknown(MetricKnowledge::kDiffered),
               "was not the same in every process");
  EXPECT_THAT(WhyUnknown(MetricKnowledge::kOrderDependent),
              testing::HasSubstr("may overlap"));
  EXPECT_STREQ(WhyUnknown(MetricKnowledge::kNotMeasured), "was not measured");
}

}  // namespace
}  // namespace footprint
