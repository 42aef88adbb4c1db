#include "footprint/profiling/schema/metric_kind.h"

#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_table.h"

namespace footprint {
namespace {

struct MetricFacts {
  MetricKind kind;
  MetricUnit unit;
  const char* short_name;
};

constexpr MetricFacts kMetrics[] = {
#define FOOTPRINT_FACTS(kind, unit, short_name, ...) \
  {kind, MetricUnit::unit, short_name},
    FOOTPRINT_HEAP_METRICS(FOOTPRINT_FACTS)
        FOOTPRINT_IMAGE_METRICS(FOOTPRINT_FACTS)
            FOOTPRINT_SAMPLED_METRICS(FOOTPRINT_FACTS)
#undef FOOTPRINT_FACTS
};

constexpr MetricFacts kUnknown = {METRIC_KIND_UNSPECIFIED, MetricUnit::kNone,
                                  "unknown metric"};

const MetricFacts& FindFacts(MetricKind kind) {
  for (const MetricFacts& facts : kMetrics) {
    if (facts.kind == kind) return facts;
  }
  return kUnknown;
}

}  // namespace

MetricUnit UnitOfMetric(MetricKind kind) { return FindFacts(kind).unit; }

absl::string_view ShortNameOfMetric(MetricKind kind) {
  return FindFacts(kind).short_name;
}

std::string SchemaNameOfMetric(MetricKind kind) {
  const std::string name(MetricKind_Name(kind));
  if (FindFacts(kind).unit == MetricUnit::kNone || name.empty()) {
    return "unknown_metric";
  }
  return absl::AsciiStrToLower(name);
}

std::string FormatMetricValue(MetricKind kind, int64_t value) {
  return UnitOfMetric(kind) == MetricUnit::kBytes ? FormatBytes(value)
                                                  : FormatCount(value);
}

}  // namespace footprint
