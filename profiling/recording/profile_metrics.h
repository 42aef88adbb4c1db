// Makes the metrics of a memory profile from the counted figures.
//
//   footprint::BenchmarkMemory memory;
//   footprint::AddHeapMetrics(phase_bytes, memory.mutable_metrics());
//   footprint::AddRecordedPhases(/*parent=*/-1, memory.mutable_phases());
//
// Adds to messages that the caller owns. Thread-compatible. Memory: the
// metrics, on the heap, so call it after the measurement.

#ifndef FOOTPRINT_PROFILING_RECORDING_PROFILE_METRICS_H_
#define FOOTPRINT_PROFILING_RECORDING_PROFILE_METRICS_H_

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

using Metrics = google::protobuf::RepeatedPtrField<Metric>;
using Phases = google::protobuf::RepeatedPtrField<Phase>;

// Adds one metric for each heap row of metric_table.h, in that order; requested
// bytes only if they are counted. A peak that several threads which may overlap
// made is BOUNDED. More processes must show whether the others are EXACT.
void AddHeapMetrics(const HeapPhaseBytes& bytes, Metrics* metrics);

// Adds the program's own size as loaded.
void AddImageMetrics(Metrics* metrics);

// Adds metrics that cannot be exact: the current resident set and the
// allocator's own view.
void AddProcessMetrics(Metrics* metrics);

// Appends one phase for each of `RecordedMemoryPhases()`. Outermost phases get
// `parent`, or -1. A phase inside another is named after both, "fit/epoch", so
// names are unique unless a program puts a slash into one.
void AddRecordedPhases(int parent, Phases* phases);

// Adds which phases held the bytes at the highest absolute peak among
// `memory`'s outermost phases: what each earlier phase left, and what the phase
// of the peak added. The largest comes first. A phase that left nothing, or
// whose figure is unknown, is left out.
void AttributePeakToPhases(BenchmarkMemory* memory);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_PROFILE_METRICS_H_
