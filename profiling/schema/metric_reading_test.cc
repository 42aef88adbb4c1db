#include "footprint/profiling/schema/metric_reading.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Every kind of knowledge, in a whole region and in a phase.
template <typename Region>
void ExpectReadings(Region region) {
  Metric* zero = region.add_metrics();
  zero->set_kind(NET_GROWTH_USABLE_BYTES);
  zero->set_determinism(EXACT);
  zero->set_value(0);
  region.add_unrepeated(ALLOCATED_USABLE_BYTES);
  region.add_unrepeated(PEAK_LIVE_USABLE_BYTES);
  region.add_order_dependent(PEAK_LIVE_USABLE_BYTES);

  const MetricReading known = ReadMetric(region, NET_GROWTH_USABLE_BYTES);
  EXPECT_EQ(known.knowledge, MetricKnowledge::kKnown);
  EXPECT_EQ(known.bytes_or_count, 0);

  const MetricReading differed = ReadMetric(region, ALLOCATED_USABLE_BYTES);
  EXPECT_EQ(differed.knowledge, MetricKnowledge::kDiffered);
  EXPECT_EQ(differed.bytes_or_count, absl::nullopt);

  const MetricReading peak = ReadMetric(region, PEAK_LIVE_USABLE_BYTES);
  EXPECT_EQ(peak.knowledge, MetricKnowledge::kOrderDependent);
  EXPECT_EQ(peak.bytes_or_count, absl::nullopt);

  const MetricReading image = ReadMetric(region, IMAGE_BYTES);
  EXPECT_EQ(image.knowledge, MetricKnowledge::kNotMeasured);
  EXPECT_EQ(image.bytes_or_count, absl::nullopt);
}

TEST(MetricReadingTest, TellsUnknownFromZeroInARegion) {
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
