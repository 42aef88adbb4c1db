#include "footprint/profiling/schema/metric_kind.h"

#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {
namespace {

struct MetricFacts {
  MetricKind kind;
  MetricUnit unit;
  const char* short_name;
};

constexpr MetricFacts kMetrics[] = {
    {PEAK_LIVE_USABLE_BYTES, MetricUnit::kBytes, "peak live"},
    {PEAK_LIVE_ABSOLUTE_USABLE_BYTES, MetricUnit::kBytes, "peak live absolute"},
    {SUM_THREAD_PEAK_USABLE_BYTES, MetricUnit::kBytes, "sum of thread peaks"},
    {ALLOCATED_USABLE_BYTES, MetricUnit::kBytes, "allocated"},
    {ALLOCATION_COUNT, MetricUnit::kCount, "allocations"},
    {NET_GROWTH_USABLE_BYTES, MetricUnit::kBytes, "net growth"},
    {PEAK_MAPPED_BYTES, MetricUnit::kBytes, "peak mapped"},
    {IMAGE_BYTES, MetricUnit::kBytes, "image"},
    {PEAK_LIVE_REQUESTED_BYTES, MetricUnit::kBytes, "peak live requested"},
    {PEAK_RESIDENT_BYTES, MetricUnit::kBytes, "peak resident"},
    {RESIDENT_ANONYMOUS_BYTES, MetricUnit::kBytes, "resident anonymous"},
    {RESIDENT_FILE_BYTES, MetricUnit::kBytes, "resident file"},
    {ALLOCATOR_ACTIVE_BYTES, MetricUnit::kBytes, "allocator active"},
    {ALLOCATOR_RESIDENT_BYTES, MetricUnit::kBytes, "allocator resident"},
    {ALLOCATOR_MAPPED_BYTES, MetricUnit::kBytes, "allocator mapped"},
    {ALLOCATOR_FRAGMENTATION_BYTES, MetricUnit::kBytes,
     "allocator fragmentation"},
};

constexpr MetricFacts kUnknown = {METRIC_KIND_UNSPECIFIED, MetricUnit::kNone,
                                  "unknown metric"};

const MetricFacts& FactsOf(MetricKind kind) {
  for (const MetricFacts& facts : kMetrics) {
    if (facts.kind == kind) return facts;
  }
  return kUnknown;
}

}  // namespace

MetricUnit UnitOfMetric(MetricKind kind) { return FactsOf(kind).unit; }

absl::string_view ShortNameOfMetric(MetricKind kind) {
  return FactsOf(kind).short_name;
}

std::string SchemaNameOfMetric(MetricKind kind) {
  const std::string name(MetricKind_Name(kind));
  if (FactsOf(kind).unit == MetricUnit::kNone || name.empty()) {
    return "unknown_metric";
  }
  return absl::AsciiStrToLower(name);
}

std::string FormatMetricValue(MetricKind kind, int64_t value) {
  return UnitOfMetric(kind) == MetricUnit::kBytes ? FormatBytes(value)
                                                  : FormatCount(value);
}

}  // namespace footprint
