#include "footprint/gates/judge/peak_limit.h"

#include <algorithm>

#include "footprint/gates/judge/rules.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

// Returns whether the metric is never below the heap's bytes at the peak.
bool IsBoundOfHeap(MetricKind metric) {
  switch (metric) {
    case PEAK_LIVE_USABLE_BYTES:
    case PEAK_LIVE_ABSOLUTE_USABLE_BYTES:
    case SUM_THREAD_PEAK_USABLE_BYTES:
    case ALLOCATED_USABLE_BYTES:
    case PEAK_LIVE_REQUESTED_BYTES:
    case PEAK_RESIDENT_BYTES:
      return true;
    default:
      return false;
  }
}

bool HasHeapFigure(const BenchmarkMemory& benchmark) {
  const auto is_bound = [](const auto& kind) {
    return IsBoundOfHeap(static_cast<MetricKind>(kind));
  };
  return std::any_of(
             benchmark.metrics().begin(), benchmark.metrics().end(),
             [&](const Metric& metric) { return is_bound(metric.kind()); }) ||
         std::any_of(benchmark.unrepeated().begin(),
                     benchmark.unrepeated().end(), is_bound);
}

bool IsWholePeak(MetricKind metric, const BenchmarkMemory& benchmark) {
  if (IsWholeProcessName(benchmark.name())) {
    return metric == PEAK_RESIDENT_BYTES;
  }
  return IsBoundOfHeap(metric) ||
         (metric == PEAK_MAPPED_BYTES && !HasHeapFigure(benchmark));
}

}  // namespace

bool IsBlocking(const Threshold& threshold) {
  return threshold.severity() == BLOCK ||
         threshold.severity() == SEVERITY_UNSPECIFIED;
}

bool LimitsPeak(const Threshold& threshold, const BenchmarkMemory& benchmark) {
  return IsBlocking(threshold) && LimitsAbove(threshold) &&
         threshold.selector().phase().empty() &&
         IsWholePeak(threshold.metric(), benchmark);
}

bool StandsInFor(const Threshold& kept, const Threshold& other) {
  return (IsBlocking(kept) || !IsBlocking(other)) &&
         (LimitsAbove(kept) || !LimitsAbove(other));
}

}  // namespace footprint
