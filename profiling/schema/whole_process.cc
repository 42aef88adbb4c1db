#include "footprint/profiling/schema/whole_process.h"

#include <algorithm>
#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

// Bytes of a program's heap and mappings at their highest, as it tells them;
// none if it does not know.
absl::optional<int64_t> AccountedBytes(const MemoryProfile& profile) {
  absl::optional<int64_t> highest;
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    int64_t bytes = 0;
    for (MetricKind kind :
         {PEAK_LIVE_ABSOLUTE_USABLE_BYTES, PEAK_MAPPED_BYTES}) {
      // Setting up may hold more than what is measured.
      absl::optional<int64_t> most = ReadMetric(benchmark, kind).bytes_or_count;
      for (const Phase& phase : benchmark.phases()) {
        const absl::optional<int64_t> of_phase =
            ReadMetric(phase, kind).bytes_or_count;
        if (!of_phase.has_value()) continue;
        most = std::max(most.value_or(0), *of_phase);
      }
      if (!most.has_value()) return absl::nullopt;
      bytes += *most;
    }
    highest = std::max(highest.value_or(0), bytes);
  }
  return highest;
}

void AddUnaccounted(int64_t accounted_bytes, BenchmarkMemory* whole) {
  const absl::optional<int64_t> seen =
      ReadMetric(*whole, RESIDENT_ANONYMOUS_BYTES).bytes_or_count;
  if (!seen.has_value()) return;
  Phase* const phase = whole->add_phases();
  phase->set_name(kUnaccountedPhase);
  phase->set_parent(-1);
  Metric* const metric = phase->add_metrics();
  metric->set_kind(RESIDENT_ANONYMOUS_BYTES);
  metric->set_determinism(STATISTICAL);
  metric->set_value(std::max<int64_t>(*seen - accounted_bytes, 0));
}

}  // namespace

void AddWholeProcess(const MemoryProfile& whole_process,
                     MemoryProfile* profile) {
  if (whole_process.has_failure() && !profile->has_failure()) {
    *profile->mutable_failure() = whole_process.failure();
  }
  const absl::optional<int64_t> accounted = AccountedBytes(*profile);
  for (const BenchmarkMemory& measured : whole_process.benchmarks()) {
    BenchmarkMemory* const whole = profile->add_benchmarks();
    *whole = measured;
    if (accounted.has_value()) AddUnaccounted(*accounted, whole);
  }
  for (const Remark& remark : whole_process.remarks()) {
    *profile->add_remarks() = remark;
  }
}

int64_t UnaccountedBytes(const BenchmarkMemory& whole) {
  for (const Phase& phase : whole.phases()) {
    if (phase.name() == kUnaccountedPhase) {
      return ReadMetric(phase, RESIDENT_ANONYMOUS_BYTES)
          .bytes_or_count.value_or(0);
    }
  }
  return 0;
}

bool TellsTooLittle(const BenchmarkMemory& whole) {
  const int64_t unaccounted_bytes = UnaccountedBytes(whole);
  const int64_t seen_bytes =
      ReadMetric(whole, RESIDENT_ANONYMOUS_BYTES).bytes_or_count.value_or(0);
  return unaccounted_bytes > kMostUnaccountedBytes &&
         unaccounted_bytes > seen_bytes / 2;
}

void LeaveOutWholeProcesses(std::vector<MemoryProfile>* profiles) {
  for (MemoryProfile& profile : *profiles) {
    auto* const benchmarks = profile.mutable_benchmarks();
    benchmarks->erase(
        std::remove_if(benchmarks->begin(), benchmarks->end(),
                       [](const BenchmarkMemory& benchmark) {
                         return IsWholeProcessName(benchmark.name());
                       }),
        benchmarks->end());
  }
}

}  // namespace footprint
