#include "footprint/gates/judge/metric_samples.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/gates/judge/environment_difference.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

std::string FindDifference(const MemorySamples& a, const MemorySamples& b) {
  if (a.kernel() != b.kernel()) return "kernel";
  if (a.cpu_model() != b.cpu_model()) return "processor";
  return CountDifferences(a.environment(), b.environment()) > 0 ? "environment"
                                                                : "";
}

bool IsOfOthers(const MemorySamples& file, absl::string_view benchmark) {
  return file.benchmarks_size() > 0 &&
         std::none_of(file.benchmarks().begin(), file.benchmarks().end(),
                      [benchmark](const SampledBenchmark& sampled) {
                        return sampled.name() == benchmark;
                      });
}

void AppendValues(const MemorySamples& file, absl::string_view benchmark,
                  absl::string_view phase, MetricKind metric,
                  std::vector<int64_t>* values) {
  for (const SampledBenchmark& sampled : file.benchmarks()) {
    if (sampled.name() != benchmark) continue;
    for (const SampledMetric& of_metric : sampled.metrics()) {
      if (of_metric.kind() != metric || of_metric.phase() != phase) continue;
      values->insert(values->end(), of_metric.values().begin(),
                     of_metric.values().end());
    }
  }
}

}  // namespace

MetricSamples CollectSamples(absl::Span<const MemorySamples> files,
                             absl::string_view label,
                             absl::string_view benchmark,
                             absl::string_view phase, MetricKind metric) {
  MetricSamples samples;
  const MemorySamples* first = nullptr;
  for (const MemorySamples& file : files) {
    if (file.label() != label) continue;
    // A whole process has its own sample files, and so have the benchmarks.
    if (IsOfOthers(file, benchmark)) continue;
    if (first == nullptr) first = &file;
    if (samples.difference.empty()) {
      samples.difference = FindDifference(*first, file);
    }
    AppendValues(file, benchmark, phase, metric, &samples.values);
  }
  if (first != nullptr) {
    samples.kernel = first->kernel();
    samples.cpu_model = first->cpu_model();
  }
  return samples;
}

}  // namespace footprint
