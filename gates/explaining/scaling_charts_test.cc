#include "footprint/gates/explaining/scaling_charts.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/threshold_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

void AddBenchmark(int rows, int workers, int64_t peak_bytes,
                  MemoryProfile* profile) {
  BenchmarkMemory* const benchmark = profile->add_benchmarks();
  benchmark->set_name(absl::StrCat("BM_Fit/rows:", rows, "/workers:", workers));
  for (const auto& [name, value] :
       {std::pair<const char*, int>{"rows", rows}, {"workers", workers}}) {
    Argument* const argument = benchmark->add_arguments();
    argument->set_name(name);
    argument->set_value(absl::StrCat(value));
  }
  Metric* const metric = benchmark->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_determinism(EXACT);
  metric->set_value(peak_bytes);
}

// Makes benchmarks that need 1,000 bytes and 100 bytes a row, with one worker
// and with two.
GateInput Input() {
  GateInput input;
  input.profiles.emplace_back();
  input.profiles[0].set_label("//a:b");
  for (const int workers : {1, 2}) {
    for (const int rows : {900, 100, 300, 2700}) {
      AddBenchmark(rows, workers, 1000 + 100 * rows, &input.profiles[0]);
    }
  }
  return input;
}

TEST(ScalingChartsTest, AFamilyIsALineByTheArgumentThatDiffers) {
  const std::vector<LineChart> charts = ScalingCharts(Input());
  // Two numbers of workers are too few for a line.
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts[0].title, "//a:b by rows");
  EXPECT_EQ(charts[0].x_label, "rows");
  ASSERT_EQ(charts[0].lines.size(), 2u);
  EXPECT_THAT(charts[0].lines[0].name,
              HasSubstr("BM_Fit/rows:*/workers:1: 100 B x rows + 1000 B"));
  EXPECT_THAT(charts[0].lines[0].points,
              ElementsAre(Pair(100, 11000), Pair(300, 31000), Pair(900, 91000),
                          Pair(2700, 271000)));
}

TEST(ScalingChartsTest, ARuleHasItsLawAndItsLimitAtAnotherSize) {
  GateInput input = Input();
  input.thresholds = {ParseThresholdFile("x/t.textproto",
                                         R"(# proto-file: gates/judge/gate.proto
# proto-message: footprint.ThresholdFile
schema_version: 1
threshold {
  selector { label: "//a:b" benchmark: "BM_Fit/*/workers:1" }
  metric: PEAK_LIVE_USABLE_BYTES
  scaling {
    argument: "rows"
    at { argument { name: "rows" value: "1000000" } max_bytes: 200000000 }
  }
}
)")};
  ASSERT_TRUE(input.thresholds[0].problems.empty());
  const std::vector<LineChart> charts = ScalingCharts(input);
  ASSERT_EQ(charts.size(), 2u);
  const LineChart& chart = charts[0];
  EXPECT_EQ(chart.title, "//a:b BM_Fit/*/workers:1");
  EXPECT_THAT(chart.description,
              HasSubstr("x/t.textproto:4: the law is 100 B x rows"));
  ASSERT_EQ(chart.lines.size(), 3u);
  EXPECT_EQ(chart.lines[0].name, "measured");
  EXPECT_EQ(chart.lines[0].points.size(), 4u);
  EXPECT_EQ(chart.lines[1].name, "the law");
  ASSERT_EQ(chart.lines[1].points.size(), 5u);
  EXPECT_NEAR(chart.lines[1].points[4].second, 100001000, 1000);
  EXPECT_EQ(chart.lines[2].name, "limit");
  EXPECT_THAT(chart.lines[2].points, ElementsAre(Pair(1000000, 200000000)));
}

TEST(ScalingChartsTest, NumbersThatAreNoSizesMakeNoChart) {
  GateInput input;
  input.profiles.emplace_back();
  input.profiles[0].set_label("//a:b");
  for (const int rows : {0, 0, 0, -5}) {
    AddBenchmark(rows, 1, 1000, &input.profiles[0]);
  }
  EXPECT_TRUE(ScalingCharts(input).empty());
  for (const int rows : {1, 2, 3}) {
    AddBenchmark(rows, 9, 1000, &input.profiles[0]);
  }
  EXPECT_TRUE(ScalingCharts(input).empty()) << "they name things";
}

}  // namespace
}  // namespace footprint
