// Reads one figure of a profile: its value, or why the value is unknown.
//
//   const MetricReading volume = ReadMetric(phase, ALLOCATED_USABLE_BYTES);
//   if (volume.bytes_or_count.has_value()) {
//     Show(*volume.bytes_or_count);
//   } else {
//     ShowUnknown(WhyUnknown(volume.knowledge));  // never a zero
//   }
//
// A figure that did not repeat is left out of a profile's metrics. Code that
// adds or compares figures must not take it for zero.
//
// Pure and thread-safe; nothing is kept. Time: linear in the metrics.

#ifndef FOOTPRINT_PROFILING_SCHEMA_METRIC_READING_H_
#define FOOTPRINT_PROFILING_SCHEMA_METRIC_READING_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/profiling/schema/memory_profile.pb.h"
#include "google/protobuf/repeated_field.h"

namespace footprint {

enum class MetricKnowledge {
  kKnown,
  kDiffered,        // The processes had different values.
  kOrderDependent,  // Threads that may overlap made it together.
  kNotMeasured,     // The profile does not contain it.
};

struct MetricReading {
  MetricKnowledge knowledge = MetricKnowledge::kNotMeasured;
  // The value; set if and only if it is known.
  absl::optional<int64_t> bytes_or_count;
};

// Returns the metric of that kind, which lives as long as `metrics`, or null.
const Metric* FindMetric(
    const google::protobuf::RepeatedPtrField<Metric>& metrics, MetricKind kind);

// Returns the figure of the whole benchmark, or of one phase.
MetricReading ReadMetric(const BenchmarkMemory& benchmark, MetricKind kind);
MetricReading ReadMetric(const Phase& phase, MetricKind kind);

// Returns the sites that held the bytes of a peak of that kind, which live as
// long as the benchmark. Returns null for kinds that no sites explain.
const google::protobuf::RepeatedPtrField<Attribution>* FindPeakHolders(
    const BenchmarkMemory& benchmark, MetricKind kind);

// Returns the end of a sentence that begins with the metric, such as "was not
// the same in every process". Empty for kKnown. Lives for ever.
const char* WhyUnknown(MetricKnowledge knowledge);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_METRIC_READING_H_
