#include "footprint/profiling/recording/profile_metrics.h"

#include <algorithm>
#include <string>
#include <vector>

#include "footprint/base/memory/allocator.h"
#include "footprint/base/memory/process_memory.h"
#include "footprint/profiling/recording/memory_phase.h"

namespace footprint {
namespace {

void AddMetric(MetricKind kind, Determinism determinism, int64_t value,
               Metrics* metrics) {
  Metric* metric = metrics->Add();
  metric->set_kind(kind);
  metric->set_determinism(determinism);
  metric->set_value(value);
}

int64_t Value(const Phase& phase, MetricKind kind) {
  for (const Metric& metric : phase.metrics()) {
    if (metric.kind() == kind) return metric.value();
  }
  return 0;
}

void Attribute(const std::string& phase_name, int64_t live_bytes,
               BenchmarkMemory* memory) {
  if (live_bytes <= 0) return;
  Attribution* attribution = memory->add_peak_attribution();
  attribution->set_site("phase:" + phase_name);
  attribution->set_live_bytes(live_bytes);
}

}  // namespace

void AddRegionMetrics(const HeapRegionBytes& bytes, Metrics* metrics) {
  const Determinism peak = bytes.threads_may_overlap ? BOUNDED : EXACT;
  AddMetric(PEAK_LIVE_USABLE_BYTES, peak, bytes.peak_live_bytes, metrics);
  AddMetric(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, peak,
            bytes.peak_live_absolute_bytes, metrics);
  AddMetric(SUM_THREAD_PEAK_USABLE_BYTES, EXACT, bytes.sum_thread_peak_bytes,
            metrics);
  AddMetric(ALLOCATED_USABLE_BYTES, EXACT, bytes.allocated_bytes, metrics);
  AddMetric(ALLOCATION_COUNT, EXACT, bytes.allocation_count, metrics);
  AddMetric(NET_GROWTH_USABLE_BYTES, EXACT, bytes.net_growth_bytes, metrics);
  AddMetric(PEAK_MAPPED_BYTES, peak, bytes.peak_mapped_bytes, metrics);
  if (RequestedBytesAreCounted()) {
    AddMetric(PEAK_LIVE_REQUESTED_BYTES, peak, bytes.peak_live_requested_bytes,
              metrics);
  }
}

void AddProcessMetrics(Metrics* metrics) {
  const ResidentBytes resident = ReadResidentBytes();
  AddMetric(PEAK_RESIDENT_BYTES, STATISTICAL, resident.peak_bytes, metrics);
  AddMetric(RESIDENT_ANONYMOUS_BYTES, STATISTICAL, resident.anonymous_bytes,
            metrics);
  AddMetric(RESIDENT_FILE_BYTES, STATISTICAL, resident.file_bytes, metrics);
  const AllocatorBytes allocator = ReadAllocatorBytes();
  AddMetric(ALLOCATOR_ACTIVE_BYTES, STATISTICAL, allocator.active_bytes,
            metrics);
  AddMetric(ALLOCATOR_RESIDENT_BYTES, STATISTICAL, allocator.resident_bytes,
            metrics);
  AddMetric(ALLOCATOR_MAPPED_BYTES, STATISTICAL, allocator.mapped_bytes,
            metrics);
  AddMetric(ALLOCATOR_FRAGMENTATION_BYTES, STATISTICAL,
            allocator.fragmentation_bytes(), metrics);
}

void AddRecordedPhases(int parent, Phases* phases) {
  const int first = phases->size();
  for (const RecordedMemoryPhase& record : RecordedMemoryPhases()) {
    const int around = record.parent < 0 ? parent : first + record.parent;
    const std::string prefix =
        around < 0 ? "" : phases->Get(around).name() + "/";
    Phase* phase = phases->Add();
    phase->set_name(prefix + record.name);
    phase->set_parent(around);
    AddRegionMetrics(record.bytes, phase->mutable_metrics());
  }
}

void AttributePeakToPhases(BenchmarkMemory* memory) {
  std::vector<const Phase*> outermost;
  for (const Phase& phase : memory->phases()) {
    if (phase.parent() < 0) outermost.push_back(&phase);
  }
  const auto highest = std::max_element(
      outermost.begin(), outermost.end(), [](const Phase* a, const Phase* b) {
        return Value(*a, PEAK_LIVE_ABSOLUTE_USABLE_BYTES) <
               Value(*b, PEAK_LIVE_ABSOLUTE_USABLE_BYTES);
      });
  if (highest == outermost.end()) return;
  for (auto earlier = outermost.begin(); earlier != highest; ++earlier) {
    Attribute((*earlier)->name(), Value(**earlier, NET_GROWTH_USABLE_BYTES),
              memory);
  }
  Attribute((*highest)->name(), Value(**highest, PEAK_LIVE_USABLE_BYTES),
            memory);
  std::stable_sort(memory->mutable_peak_attribution()->begin(),
                   memory->mutable_peak_attribution()->end(),
                   [](const Attribution& a, const Attribution& b) {
                     return a.live_bytes() > b.live_bytes();
                   });
}

}  // namespace footprint
