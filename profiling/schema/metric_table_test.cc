#include "footprint/profiling/schema/metric_table.h"

#include <string>
#include <vector>

#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAreArray;

struct Row {
  MetricKind kind;
  MetricUnit unit;
  std::string short_name;
};

std::vector<Row> Rows() {
  return {
#define FOOTPRINT_ROW(kind, unit, short_name, ...) \
  {kind, MetricUnit::unit, short_name},
      FOOTPRINT_HEAP_METRICS(FOOTPRINT_ROW)
          FOOTPRINT_IMAGE_METRICS(FOOTPRINT_ROW)
              FOOTPRINT_SAMPLED_METRICS(FOOTPRINT_ROW)
#undef FOOTPRINT_ROW
  };
}

TEST(MetricTableTest, HasOneRowForEachKindOfTheSchema) {
  std::vector<int> kinds_of_rows;
  for (const Row& row : Rows()) kinds_of_rows.push_back(row.kind);
  std::vector<int> kinds_of_schema;
  const auto* schema = MetricKind_descriptor();
  for (int i = 0; i < schema->value_count(); ++i) {
    if (schema->value(i)->number() != METRIC_KIND_UNSPECIFIED) {
      kinds_of_schema.push_back(schema->value(i)->number());
    }
  }
  EXPECT_THAT(kinds_of_rows, UnorderedElementsAreArray(kinds_of_schema));
}

TEST(MetricTableTest, TheUnitIsPartOfTheName) {
  for (const Row& row : Rows()) {
    EXPECT_THAT(
        std::string(MetricKind_Name(row.kind)),
        HasSubstr(row.unit == MetricUnit::kBytes ? "_BYTES" : "_COUNT"));
    EXPECT_THAT(row.short_name, Not(IsEmpty()));
  }
}

struct HeapRow {
  std::string name;
  MetricUnit unit;
  HeapQuantity quantity;
  HeapStatistic statistic;
  std::string member;
};

std::vector<HeapRow> HeapRows() {
  return {
#define FOOTPRINT_ROW(kind, unit, short_name, quantity, statistic, member) \
  {MetricKind_Name(kind), MetricUnit::unit, HeapQuantity::quantity,        \
   HeapStatistic::statistic, #member},
      FOOTPRINT_HEAP_METRICS(FOOTPRINT_ROW)
#undef FOOTPRINT_ROW
  };
}

TEST(MetricTableTest, AMetricHasTheUnitOfItsQuantity) {
  for (const HeapRow& row : HeapRows()) {
    const MetricUnit unit = row.quantity == HeapQuantity::kAllocationCount
                                ? MetricUnit::kCount
                                : MetricUnit::kBytes;
    EXPECT_EQ(row.unit, unit) << row.name;
    EXPECT_LT(static_cast<int>(row.quantity), kHeapQuantityCount) << row.name;
  }
}

TEST(MetricTableTest, APhaseThatIsVisitedAgainAddsChangesAndKeepsPeaks) {
  EXPECT_EQ(CombineVisits(HeapStatistic::kNetChange, 5, -3), 2);
  for (HeapStatistic peak :
       {HeapStatistic::kNetPeak, HeapStatistic::kAbsolutePeak,
        HeapStatistic::kNetThreadPeakSum}) {
    EXPECT_EQ(CombineVisits(peak, 5, 3), 5);
    EXPECT_EQ(CombineVisits(peak, 5, 7), 7);
  }
}

TEST(MetricTableTest, OnlyPeaksOfTheProcessDependOnTheOrderOfThreads) {
  EXPECT_TRUE(DependsOnThreadOrder(HeapStatistic::kNetPeak));
  EXPECT_TRUE(DependsOnThreadOrder(HeapStatistic::kAbsolutePeak));
  EXPECT_FALSE(DependsOnThreadOrder(HeapStatistic::kNetChange));
  EXPECT_FALSE(DependsOnThreadOrder(HeapStatistic::kNetThreadPeakSum));
}

}  // namespace
}  // namespace footprint
