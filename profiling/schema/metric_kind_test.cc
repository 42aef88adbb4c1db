#include "footprint/profiling/schema/metric_kind.h"

#include <set>
#include <string>

#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

// A kind that is in the schema but not in the table fails here.
TEST(MetricKindTest, KnowsEveryKindOfTheSchema) {
  const auto* kinds = MetricKind_descriptor();
  std::set<std::string> short_names;
  for (int i = 0; i < kinds->value_count(); ++i) {
    if (kinds->value(i)->number() == METRIC_KIND_UNSPECIFIED) continue;
    const auto kind = static_cast<MetricKind>(kinds->value(i)->number());
    const std::string name(SchemaNameOfMetric(kind));
    EXPECT_NE(UnitOfMetric(kind), MetricUnit::kNone) << name;
    EXPECT_TRUE(short_names.insert(std::string(ShortNameOfMetric(kind))).second)
        << name;
    // The unit is part of the name.
    EXPECT_THAT(name,
                HasSubstr(UnitOfMetric(kind) == MetricUnit::kBytes ? "_bytes"
                                                                   : "_count"));
  }
}

TEST(MetricKindTest, NamesMetricsForTablesAndForMachines) {
  EXPECT_EQ(std::string(ShortNameOfMetric(PEAK_LIVE_USABLE_BYTES)),
            "peak live");
  EXPECT_EQ(SchemaNameOfMetric(PEAK_LIVE_USABLE_BYTES),
            "peak_live_usable_bytes");
  EXPECT_EQ(SchemaNameOfMetric(ALLOCATION_COUNT), "allocation_count");
}

TEST(MetricKindTest, SaysSoOfWhatIsNoMetric) {
  for (int number : {0, -1, 4711}) {
    const auto kind = static_cast<MetricKind>(number);
    EXPECT_EQ(UnitOfMetric(kind), MetricUnit::kNone);
    EXPECT_EQ(std::string(ShortNameOfMetric(kind)), "unknown metric");
    EXPECT_EQ(SchemaNameOfMetric(kind), "unknown_metric");
  }
}

TEST(MetricKindTest, FormatsValuesInTheirUnit) {
  EXPECT_EQ(FormatMetricValue(PEAK_LIVE_USABLE_BYTES, 1572864),
            "1.50 MiB (1,572,864 B)");
  EXPECT_EQ(FormatMetricValue(ALLOCATION_COUNT, 1572864), "1,572,864");
}

}  // namespace
}  // namespace footprint
