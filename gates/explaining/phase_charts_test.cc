#include "footprint/gates/explaining/phase_charts.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/judge/gate_input.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

template <typename Measured>
void SetPeak(int64_t bytes, Measured* measured) {
  Metric* const metric = measured->add_metrics();
  metric->set_kind(PEAK_LIVE_USABLE_BYTES);
  metric->set_value(bytes);
}

// A benchmark whose phases p1, p2, ... have peaks of 1, 2, ... KiB.
BenchmarkMemory* AddBenchmark(const std::string& label, const std::string& name,
                              int64_t peak_bytes, int phases,
                              GateInput* input) {
  input->profiles.emplace_back();
  input->profiles.back().set_label(label);
  BenchmarkMemory* const benchmark = input->profiles.back().add_benchmarks();
  benchmark->set_name(name);
  SetPeak(peak_bytes, benchmark);
  for (int i = 1; i <= phases; ++i) {
    Phase* const phase = benchmark->add_phases();
    phase->set_name(absl::StrCat("p", i));
    SetPeak(1024 * i, phase);
  }
  return benchmark;
}

TEST(PhaseChartsTest, TheWholeAndItsPhasesStandBySize) {
  GateInput input;
  AddBenchmark("//a:b", "BM_Fit", 5000, 2, &input);
  const std::vector<StackedBars> charts = MakePhaseCharts(input, {"//a:b"});
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts[0].title, "//a:b");
  EXPECT_EQ(charts[0].description, "BM_Fit");
  ASSERT_EQ(charts[0].bars.size(), 3u);
  EXPECT_EQ(charts[0].bars[0].label, "the whole");
  EXPECT_EQ(charts[0].bars[0].values, std::vector<double>{5000});
  EXPECT_EQ(charts[0].bars[1].label, "p2");
  EXPECT_EQ(charts[0].bars[2].label, "p1");
}

TEST(PhaseChartsTest, TheBenchmarkWithTheHighestPeakStandsForItsLabel) {
  GateInput input;
  AddBenchmark("//a:b", "BM_Small", 5000, 2, &input);
  AddBenchmark("//a:b", "BM_Large", 6000, 1, &input);
  AddBenchmark("//a:b", "BM_Middle", 5500, 3, &input);
  EXPECT_EQ(MakePhaseCharts(input, {"//a:b"})[0].description, "BM_Large");
}

TEST(PhaseChartsTest, LabelsWithoutPhasesHaveNoChart) {
  GateInput input;
  AddBenchmark("//a:b", "BM_Fit", 5000, 0, &input);
  AddBenchmark("//c:d", "BM_Fit", 5000, 1, &input);
  AddBenchmark("//e:f", "BM_Fit", 5000, 1, &input);
  const std::vector<StackedBars> charts =
      MakePhaseCharts(input, {"//e:f", "//a:b", "//no:such", "//c:d"});
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].title, "//e:f");
  EXPECT_EQ(charts[1].title, "//c:d");
}

TEST(PhaseChartsTest, OnlyTheLargestOfManyAreShownAndItSaysSo) {
  GateInput input;
  AddBenchmark("//a:b", "BM_Fit", 1 << 20, 40, &input);
  const StackedBars chart = MakePhaseCharts(input, {"//a:b"})[0];
  EXPECT_EQ(chart.bars.size(), 12u);
  EXPECT_EQ(chart.bars[1].label, "p40");
  EXPECT_EQ(chart.description, "BM_Fit, the 12 largest of 41");
}

}  // namespace
}  // namespace footprint
