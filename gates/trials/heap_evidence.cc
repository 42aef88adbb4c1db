#include "footprint/gates/trials/heap_evidence.h"

#include <algorithm>
#include <limits>

#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {
namespace {

// Records may be forged: a sum that is too large for the type, too.
constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max() / 8;

int64_t ReadBytes(const BenchmarkMemory& benchmark, MetricKind kind) {
  return std::clamp<int64_t>(
      ReadMetric(benchmark, kind).bytes_or_count.value_or(0), 0, kMostBytes);
}

}  // namespace

bool IsHeapJudged(const Verdict& verdict) {
  return std::any_of(
      verdict.judgements().begin(), verdict.judgements().end(),
      [](const Judgement& each) {
        return each.severity() == BLOCK && each.decision() == ACCEPT &&
               (each.metric() != PEAK_RESIDENT_BYTES || !each.phase().empty());
      });
}

int64_t ComputeMostExplainedBytes(const MemoryProfile& profile) {
  int64_t told_bytes = 0;
  for (const BenchmarkMemory& each : profile.benchmarks()) {
    told_bytes =
        std::max(told_bytes, ReadBytes(each, PEAK_LIVE_ABSOLUTE_USABLE_BYTES) +
                                 ReadBytes(each, PEAK_MAPPED_BYTES));
  }
  return std::max(told_bytes + kMostUnaccountedBytes, 2 * told_bytes);
}

}  // namespace footprint
