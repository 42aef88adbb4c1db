#include "footprint/profiling/schema/metric_reading.h"

#include <algorithm>

namespace footprint {
namespace {

template <typename Kinds>
bool Has(const Kinds& kinds, MetricKind kind) {
  return std::find(kinds.begin(), kinds.end(), static_cast<int>(kind)) !=
         kinds.end();
}

template <typename Measured>
MetricReading Read(const Measured& measured, MetricKind kind) {
  const Metric* const metric = FindMetric(measured.metrics(), kind);
  if (metric != nullptr) return {MetricKnowledge::kKnown, metric->value()};
  if (Has(measured.order_dependent(), kind)) {
    return {MetricKnowledge::kOrderDependent, absl::nullopt};
  }
  return {Has(measured.unrepeated(), kind) ? MetricKnowledge::kDiffered
                                           : MetricKnowledge::kNotMeasured,
          absl::nullopt};
}

}  // namespace

const Metric* FindMetric(
    const google::protobuf::RepeatedPtrField<Metric>& metrics,
    MetricKind kind) {
  for (const Metric& metric : metrics) {
    if (metric.kind() == kind) return &metric;
  }
  return nullptr;
}

MetricReading ReadMetric(const BenchmarkMemory& benchmark, MetricKind kind) {
  return Read(benchmark, kind);
}

MetricReading ReadMetric(const Phase& phase, MetricKind kind) {
  return Read(phase, kind);
}

const google::protobuf::RepeatedPtrField<Attribution>* FindPeakHolders(
    const BenchmarkMemory& benchmark, MetricKind kind) {
  switch (kind) {
    case PEAK_LIVE_USABLE_BYTES:
    case PEAK_LIVE_ABSOLUTE_USABLE_BYTES:
    case PEAK_LIVE_REQUESTED_BYTES:
      return &benchmark.peak_attribution();
    case PEAK_MAPPED_BYTES:
      return &benchmark.mapped_attribution();
    default:
      return nullptr;
  }
}

const char* WhyUnknown(MetricKnowledge knowledge) {
  switch (knowledge) {
    case MetricKnowledge::kKnown:
      return "";
    case MetricKnowledge::kDiffered:
      return "was not the same in every process";
    case MetricKnowledge::kOrderDependent:
      return "was made by threads that may overlap, so it depends on their "
             "order";
    case MetricKnowledge::kNotMeasured:
      return "was not measured";
  }
  return "";
}

}  // namespace footprint
