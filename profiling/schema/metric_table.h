// The metrics of a memory profile, one row each.
//
//   #define FOOTPRINT_NAME(kind, unit, short_name, ...) short_name,
//   constexpr const char* kNames[] = {
//       FOOTPRINT_HEAP_METRICS(FOOTPRINT_NAME)};
//   #undef FOOTPRINT_NAME
//
// To add a metric, give it a number in memory_profile.proto, which also
// explains it, and add a row here. The heap's counters, the metrics of a phase,
// the names in tables and the tests all use the rows.
//
// Constants and pure functions: thread-safe, and nothing is owned. It includes
// nothing that could allocate, because the counters behind malloc include it.

#ifndef FOOTPRINT_PROFILING_SCHEMA_METRIC_TABLE_H_
#define FOOTPRINT_PROFILING_SCHEMA_METRIC_TABLE_H_

#include <algorithm>
#include <cstdint>

namespace footprint {

enum class MetricUnit { kNone, kBytes, kCount };

// A quantity that the heap's counters know at every moment.
enum class HeapQuantity {
  kLiveBytes,
  kAllocatedBytes,  // All bytes allocated so far.
  kAllocationCount,
  kMappedBytes,
  kRequestedBytes,  // Live; only exact_heap_with_requested_bytes counts it.
};
inline constexpr int kHeapQuantityCount = 5;

// How a metric summarises a quantity from the start to the end of a phase.
enum class HeapStatistic {
  kNetPeak,       // The highest value less the value at the start.
  kAbsolutePeak,  // The highest value.
  kNetChange,     // The value at the end less the value at the start.
  // The highest sum of the threads' own net peaks, over all sets of threads
  // that can be alive at once. For live bytes only.
  kNetThreadPeakSum,
};

// Combines two visits of a phase: changes add up, and of peaks the higher
// stays.
constexpr int64_t CombineVisits(HeapStatistic statistic, int64_t earlier,
                                int64_t visit) {
  return statistic == HeapStatistic::kNetChange ? earlier + visit
                                                : std::max(earlier, visit);
}

// Returns whether threads that may overlap can give another value in another
// order.
constexpr bool DependsOnThreadOrder(HeapStatistic statistic) {
  return statistic == HeapStatistic::kNetPeak ||
         statistic == HeapStatistic::kAbsolutePeak;
}

}  // namespace footprint

// ROW(kind in the schema, MetricUnit, short name, HeapQuantity, HeapStatistic,
// member of HeapPhaseBytes), in the order of a profile.
#define FOOTPRINT_HEAP_METRICS(ROW)                                            \
  ROW(PEAK_LIVE_USABLE_BYTES, kBytes, "peak live", kLiveBytes, kNetPeak,       \
      peak_live_net_bytes)                                                     \
  ROW(PEAK_LIVE_ABSOLUTE_USABLE_BYTES, kBytes, "peak live absolute",           \
      kLiveBytes, kAbsolutePeak, peak_live_absolute_bytes)                     \
  ROW(SUM_THREAD_PEAK_USABLE_BYTES, kBytes, "sum of thread peaks", kLiveBytes, \
      kNetThreadPeakSum, sum_thread_peak_net_bytes)                            \
  ROW(ALLOCATED_USABLE_BYTES, kBytes, "allocated", kAllocatedBytes,            \
      kNetChange, allocated_bytes)                                             \
  ROW(ALLOCATION_COUNT, kCount, "allocations", kAllocationCount, kNetChange,   \
      allocation_count)                                                        \
  ROW(NET_GROWTH_USABLE_BYTES, kBytes, "net growth", kLiveBytes, kNetChange,   \
      net_growth_bytes)                                                        \
  ROW(PEAK_MAPPED_BYTES, kBytes, "peak mapped", kMappedBytes, kNetPeak,        \
      peak_mapped_net_bytes)                                                   \
  ROW(PEAK_LIVE_REQUESTED_BYTES, kBytes, "peak live requested",                \
      kRequestedBytes, kNetPeak, peak_live_requested_net_bytes)

// ROW(kind, unit, short name, value). EXACT metrics of a program and its
// startup.
#define FOOTPRINT_IMAGE_METRICS(ROW) \
  ROW(IMAGE_BYTES, kBytes, "image", LoadedImageBytes())

// ROW(kind, unit, short name, value). STATISTICAL metrics of the whole process,
// from `resident` (ResidentBytes) and `allocator` (AllocatorBytes).
#define FOOTPRINT_SAMPLED_METRICS(ROW)                                   \
  ROW(PEAK_RESIDENT_BYTES, kBytes, "peak resident", resident.peak_bytes) \
  ROW(RESIDENT_ANONYMOUS_BYTES, kBytes, "resident anonymous",            \
      resident.anonymous_bytes)                                          \
  ROW(RESIDENT_FILE_BYTES, kBytes, "resident file", resident.file_bytes) \
  ROW(ALLOCATOR_ACTIVE_BYTES, kBytes, "allocator active",                \
      allocator.active_bytes)                                            \
  ROW(ALLOCATOR_RESIDENT_BYTES, kBytes, "allocator resident",            \
      allocator.resident_bytes)                                          \
  ROW(ALLOCATOR_MAPPED_BYTES, kBytes, "allocator mapped",                \
      allocator.mapped_bytes)                                            \
  ROW(ALLOCATOR_FRAGMENTATION_BYTES, kBytes, "allocator fragmentation",  \
      allocator.fragmentation_bytes())

#endif  // FOOTPRINT_PROFILING_SCHEMA_METRIC_TABLE_H_
