// Measures the time of `Evaluate` on profiles and thresholds in memory, without
// reading files.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "footprint/gates/judge/evaluate.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

constexpr int kMetricCount = 10;

std::vector<MemoryProfile> MakeProfiles(int count) {
  std::vector<MemoryProfile> profiles(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    MemoryProfile& profile = profiles[static_cast<size_t>(i)];
    profile.set_label(absl::StrCat("//deployments/model", i, ":benchmark"));
    profile.set_process_count(3);
    BenchmarkMemory* benchmark = profile.add_benchmarks();
    benchmark->set_name("BM_Infer/batch:8");
    for (int kind = 1; kind <= kMetricCount; ++kind) {
      Metric* metric = benchmark->add_metrics();
      metric->set_kind(static_cast<MetricKind>(kind));
      metric->set_determinism(EXACT);
      metric->set_value(1000 + i);
    }
  }
  return profiles;
}

// Makes one threshold file: a rule for each label if `is_literal`, else one
// rule a metric for every label.
ThresholdSource MakeThresholds(int profile_count, bool is_literal) {
  ThresholdSource source;
  source.path = "thresholds.textproto";
  for (int i = 0; i < (is_literal ? profile_count : 1); ++i) {
    for (int kind = 1; kind <= kMetricCount; ++kind) {
      Threshold* threshold = source.file.add_threshold();
      threshold->mutable_selector()->set_label(
          is_literal ? absl::StrCat("//deployments/model", i, ":benchmark")
                     : "//deployments/*");
      threshold->mutable_selector()->set_benchmark("BM_Infer/batch:8");
      threshold->set_metric(static_cast<MetricKind>(kind));
      threshold->set_max_bytes(1 << 20);
      source.lines.push_back(source.file.threshold_size());
    }
  }
  return source;
}

void BM_Evaluate(benchmark::State& state) {
  const int profile_count = static_cast<int>(state.range(0));
  const std::vector<MemoryProfile> profiles = MakeProfiles(profile_count);
  const std::vector<ThresholdSource> sources = {
      MakeThresholds(profile_count, state.range(1) == 1)};
  for (auto _ : state) {
    const Verdict verdict = Evaluate(profiles, sources, EvaluationOptions());
    if (verdict.decision() != ACCEPT ||
        verdict.judgements_size() != profile_count * kMetricCount) {
      state.SkipWithError("not every metric was accepted");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * profile_count * kMetricCount);
}
BENCHMARK(BM_Evaluate)
    ->ArgNames({"profiles", "literal"})
    ->Args({10, 1})
    ->Args({10000, 1})
    ->Args({10000, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace footprint
