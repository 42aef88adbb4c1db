#include "footprint/profiling/schema/whole_process.h"

#include <algorithm>
#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/whole_process_name.h"

namespace footprint {
namespace {

// Returns the highest value of a benchmark and its phases, since the setup may
// hold more than the measured part. Returns 0 if none is known.
int64_t ReadHighest(const BenchmarkMemory& benchmark, MetricKind kind) {
  int64_t most = ReadMetric(benchmark, kind).bytes_or_count.value_or(0);
  for (const Phase& phase : benchmark.phases()) {
    most = std::max(most, ReadMetric(phase, kind).bytes_or_count.value_or(0));
  }
  return most;
}

// Returns the highest sum of peak heap and peak mappings that the program
// reports for a benchmark. The mappings count without their `untouched_bytes`.
// Returns nothing if there is no benchmark.
absl::optional<int64_t> AccountedBytes(const MemoryProfile& profile,
                                       int64_t untouched_bytes) {
  absl::optional<int64_t> highest;
  for (const BenchmarkMemory& benchmark : profile.benchmarks()) {
    int64_t heap_bytes =
        ReadHighest(benchmark, PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
    // If threads made the peak together, no absolute peak is known. Then the
    // sum of the threads' peaks is added to the highest peak of a phase, such
    // as the setup.
    if (!ReadMetric(benchmark, PEAK_LIVE_ABSOLUTE_USABLE_BYTES)
             .bytes_or_count.has_value()) {
      heap_bytes += ReadHighest(benchmark, SUM_THREAD_PEAK_USABLE_BYTES);
    }
    const int64_t mapped_bytes = std::max<int64_t>(
        ReadHighest(benchmark, PEAK_MAPPED_BYTES) - untouched_bytes, 0);
    highest = std::max(highest.value_or(0), heap_bytes + mapped_bytes);
  }
  return highest;
}

// Returns the figure of the phase with that name, or nothing if there is no
// such phase.
absl::optional<int64_t> ReadPhase(const BenchmarkMemory& whole,
                                  const char* name, MetricKind kind) {
  for (const Phase& phase : whole.phases()) {
    if (phase.name() == name) return ReadMetric(phase, kind).bytes_or_count;
  }
  return absl::nullopt;
}

// Adds the phase of the anonymous memory that the program does not report.
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
  // A copy, because the loop adds benchmarks to the profile.
  const MemoryProfile told = *profile;
  for (const BenchmarkMemory& measured : whole_process.benchmarks()) {
    BenchmarkMemory* const whole = profile->add_benchmarks();
    *whole = measured;
    const absl::optional<int64_t> accounted = AccountedBytes(
        told,
        ReadPhase(measured, kUntouchedPhase, PEAK_MAPPED_BYTES).value_or(0));
    if (accounted.has_value()) AddUnaccounted(*accounted, whole);
  }
  for (const Remark& remark : whole_process.remarks()) {
    *profile->add_remarks() = remark;
  }
}

int64_t UnaccountedBytes(const BenchmarkMemory& whole) {
  return ReadPhase(whole, kUnaccountedPhase, RESIDENT_ANONYMOUS_BYTES)
      .value_or(0);
}

bool IsOutlived(const BenchmarkMemory& whole) {
  return IsWholeProcessName(whole.name()) &&
         ReadPhase(whole, kOutlivedPhase, PEAK_RESIDENT_BYTES).has_value();
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
