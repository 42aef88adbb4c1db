// Makes the metrics of a memory profile from the counted figures.
//
//   footprint::BenchmarkMemory memory;
//   footprint::AddHeapMetrics(phase_bytes, memory.mutable_metrics());
//   footprint::AddRecordedPhases(/*parent=*/-1, memory.mutable_phases());
//
// Adds to messages that the caller owns. Thread-compatible. Memory: the
// metrics, on the heap, so to be called after what is measured.

#ifndef FOOTPRINT_PROFILING_RECORDING_PROFILE_METRICS_H_
#define FOOTPRINT_PROFILING_RECORDING_PROFILE_METRICS_H_

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

using Metrics = google::protobuf::RepeatedPtrField<Metric>;
using Phases = google::protobuf::RepeatedPtrField<Phase>;

// One metric for each heap row of metric_table.h, in that order; requested
// bytes only where they are counted. A peak that threads made together which
// may overlap is BOUNDED; whether the others are EXACT, more processes must
// show.
void AddHeapMetrics(const HeapPhaseBytes& bytes, Metrics* metrics);

// The program's own size as loaded.
void AddImageMetrics(Metrics* metrics);

// Metrics that cannot be exact: resident set and the allocator's own view, as
// of now.
void AddProcessMetrics(Metrics* metrics);

// One phase for each of `RecordedMemoryPhases()`, after those that `phases`
// holds. Phases without one around them get `parent`, -1 for none. A phase
// inside another is named after both, "fit/epoch", so names are unique.
void AddRecordedPhases(int parent, Phases* phases);

// Says which phases held the bytes at the highest absolute peak among the
// outermost of `memory`'s phases: what each earlier one left behind, and what
// that one added.
void AttributePeakToPhases(BenchmarkMemory* memory);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDING_PROFILE_METRICS_H_
