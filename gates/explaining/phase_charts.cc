#include "footprint/gates/explaining/phase_charts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_reading.h"

namespace footprint {
namespace {

constexpr size_t kMostPhases = 12;

int64_t FindPeak(const BenchmarkMemory& benchmark) {
  return ReadMetric(benchmark, PEAK_LIVE_USABLE_BYTES)
      .bytes_or_count.value_or(-1);
}

std::map<std::string, const BenchmarkMemory*> FindLargestBenchmarks(
    const GateInput& input) {
  std::map<std::string, const BenchmarkMemory*> largest;
  for (const MemoryProfile& profile : input.profiles) {
    for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
      const BenchmarkMemory*& slot = largest[profile.label()];
      if (slot == nullptr || FindPeak(benchmark) > FindPeak(*slot)) {
        slot = &benchmark;
      }
    }
  }
  return largest;
}

void AddBar(const std::string& name, const MetricReading& reading,
            StackedBars* chart) {
  if (!reading.bytes_or_count.has_value()) return;
  const int64_t bytes = std::max<int64_t>(0, *reading.bytes_or_count);
  chart->bars.push_back({name, {static_cast<double>(bytes)}});
}

StackedBars MakePhaseChart(const std::string& label,
                           const BenchmarkMemory& benchmark) {
  StackedBars chart;
  chart.title = label;
  chart.description = benchmark.name();
  chart.series = {"peak live"};
  chart.scale = StackedBars::Scale::kAbsolute;
  AddBar("the whole", ReadMetric(benchmark, PEAK_LIVE_USABLE_BYTES), &chart);
  for (const Phase& phase : benchmark.phases()) {
    AddBar(phase.name(), ReadMetric(phase, PEAK_LIVE_USABLE_BYTES), &chart);
  }
  std::stable_sort(chart.bars.begin(), chart.bars.end(),
                   [](const StackedBars::Bar& a, const StackedBars::Bar& b) {
                     return a.values[0] > b.values[0];
                   });
  if (chart.bars.size() > kMostPhases) {
    absl::StrAppend(&chart.description, ", the ", kMostPhases, " largest of ",
                    chart.bars.size());
    chart.bars.resize(kMostPhases);
  }
  return chart;
}

}  // namespace

std::vector<StackedBars> MakePhaseCharts(
    const GateInput& input, const std::vector<std::string>& labels) {
  const std::map<std::string, const BenchmarkMemory*> largest =
      FindLargestBenchmarks(input);
  std::vector<StackedBars> charts;
  for (const std::string& label : labels) {
    const auto found = largest.find(label);
    if (found == largest.end()) continue;
    StackedBars chart = MakePhaseChart(label, *found->second);
    // A single bar is the whole, without any phase.
    if (chart.bars.size() >= 2) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace footprint
