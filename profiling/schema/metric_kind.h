// Names a memory profile's metrics for people and tables, and finds their
// units.
//
//   UnitOfMetric(PEAK_LIVE_USABLE_BYTES);       // MetricUnit::kBytes
//   ShortNameOfMetric(PEAK_LIVE_USABLE_BYTES);  // "peak live"
//   SchemaNameOfMetric(PEAK_LIVE_USABLE_BYTES); // "peak_live_usable_bytes"
//   FormatMetricValue(ALLOCATION_COUNT, 1200);  // "1,200"
//
// Pure functions, thread-safe; the returned views live for ever. A number that
// is not a metric of this schema is called "unknown metric" (in the schema's
// form, "unknown_metric") and has the unit kNone. Readers of files refuse such
// numbers, so this appears in messages only. The answers come from
// metric_table.h.

#ifndef FOOTPRINT_PROFILING_SCHEMA_METRIC_KIND_H_
#define FOOTPRINT_PROFILING_SCHEMA_METRIC_KIND_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "footprint/profiling/schema/metric_table.h"

namespace footprint {

MetricUnit UnitOfMetric(MetricKind kind);

// Returns a name of a few letters for tables: "peak live", "sum of thread
// peaks".
absl::string_view ShortNameOfMetric(MetricKind kind);

// Returns the enumerator in lower case, as in JSON keys and test names.
std::string SchemaNameOfMetric(MetricKind kind);

// Formats `value` in the metric's unit: "1.50 MiB (1,572,864 B)" or "1,200".
std::string FormatMetricValue(MetricKind kind, int64_t value);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_METRIC_KIND_H_
