#include "footprint/gates/trials/heap_evidence.h"

#include <algorithm>
#include <limits>

#include "absl/types/optional.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {
namespace {

// Records may be forged, so figures are bounded: their sums must not overflow.
constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max() / 8;

int64_t ReadBytes(const BenchmarkMemory& benchmark, MetricKind kind) {
  return std::clamp<int64_t>(
      ReadMetric(benchmark, kind).bytes_or_count.value_or(0), 0, kMostBytes);
}

// Returns whether the judgement is of a blocking rule that holds.
bool HoldsAndBlocks(const Judgement& judgement) {
  return judgement.severity() == BLOCK && judgement.decision() == ACCEPT;
}

// Returns the lowest value of a figure that a blocking rule has accepted as not
// too high; nullopt if there is none.
absl::optional<int64_t> FindJudgedBytes(const Verdict& verdict,
                                        MetricKind kind) {
  absl::optional<int64_t> least;
  for (const Judgement& each : verdict.judgements()) {
    if (each.metric() != kind || !each.phase().empty() ||
        each.rule() == MINIMUM || !HoldsAndBlocks(each)) {
      continue;
    }
    least = std::min(least.value_or(kMostBytes), each.measured());
  }
  return least;
}

}  // namespace

bool IsHeapJudged(const Verdict& verdict) {
  return std::any_of(
      verdict.judgements().begin(), verdict.judgements().end(),
      [](const Judgement& each) {
        return HoldsAndBlocks(each) &&
               (each.metric() != PEAK_RESIDENT_BYTES || !each.phase().empty());
      });
}

int64_t ComputeMostExplainedBytes(const MemoryProfile& profile,
                                  const Verdict& verdict) {
  int64_t told_bytes = 0;
  for (const BenchmarkMemory& each : profile.benchmarks()) {
    told_bytes =
        std::max(told_bytes, ReadBytes(each, PEAK_LIVE_ABSOLUTE_USABLE_BYTES));
  }
  for (const MetricKind kind :
       {PEAK_LIVE_ABSOLUTE_USABLE_BYTES, PEAK_LIVE_USABLE_BYTES}) {
    told_bytes = std::min(told_bytes,
                          FindJudgedBytes(verdict, kind).value_or(told_bytes));
  }
  told_bytes += std::clamp<int64_t>(
      FindJudgedBytes(verdict, PEAK_MAPPED_BYTES).value_or(0), 0, kMostBytes);
  return std::max(told_bytes + kMostUnaccountedBytes, 2 * told_bytes);
}

}  // namespace footprint
