#include "footprint/profiling/recording/profile_metrics.h"

#include <algorithm>
#include <string>
#include <vector>

#include "footprint/base/memory/allocator.h"
#include "footprint/base/memory/process_memory.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/profiling/heap/heap_metrics.h"
#include "footprint/profiling/recording/memory_phase.h"
#include "footprint/profiling/schema/metric_reading.h"
#include "footprint/profiling/schema/metric_table.h"

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
  return ReadMetric(phase, kind).bytes_or_count.value_or(0);
}

void Attribute(const std::string& phase_name, int64_t live_bytes,
               BenchmarkMemory* memory) {
  if (live_bytes <= 0) return;
  Attribution* attribution = memory->add_peak_attribution();
  attribution->set_site("phase:" + phase_name);
  attribution->set_live_bytes(live_bytes);
}

}  // namespace

void AddHeapMetrics(const HeapPhaseBytes& bytes, Metrics* metrics) {
  static constexpr MetricKind kKinds[] = {
#define FOOTPRINT_KIND(kind, ...) kind,
      FOOTPRINT_HEAP_METRICS(FOOTPRINT_KIND)
#undef FOOTPRINT_KIND
  };
  const MetricKind* kind = kKinds;
  for (const HeapMetric& metric : kHeapMetrics) {
    const bool is_bounded =
        bytes.threads_may_overlap && DependsOnThreadOrder(metric.statistic);
    if (metric.quantity != HeapQuantity::kRequestedBytes ||
        RequestedBytesAreCounted()) {
      AddMetric(*kind, is_bounded ? BOUNDED : EXACT, bytes.*metric.member,
                metrics);
    }
    ++kind;
  }
}

void AddImageMetrics(Metrics* metrics) {
#define FOOTPRINT_ADD(kind, unit, short_name, value) \
  AddMetric(kind, EXACT, value, metrics);
  FOOTPRINT_IMAGE_METRICS(FOOTPRINT_ADD)
#undef FOOTPRINT_ADD
}

void AddProcessMetrics(Metrics* metrics) {
  const ResidentBytes resident = ReadResidentBytes();
  const AllocatorBytes allocator = ReadAllocatorBytes();
#define FOOTPRINT_ADD(kind, unit, short_name, value) \
  AddMetric(kind, STATISTICAL, value, metrics);
  FOOTPRINT_SAMPLED_METRICS(FOOTPRINT_ADD)
#undef FOOTPRINT_ADD
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
    AddHeapMetrics(record.bytes, phase->mutable_metrics());
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
