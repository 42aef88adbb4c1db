// The metrics of a memory profile, a row each.
//
//   #define FOOTPRINT_NAME(kind, unit, short_name, ...) short_name,
//   constexpr const char* kNames[] = {
//       FOOTPRINT_HEAP_METRICS(FOOTPRINT_NAME)};
//   #undef FOOTPRINT_NAME
//
// To add a metric, give it a number in memory_profile.proto, where its meaning
// stands too, and add a row here. The heap's counters, the metrics of a phase,
// the names in tables and the tests all follow the rows.
//
// Constants and pure functions: thread-safe, nothing is owned. Includes nothing
// that could allocate: the counters behind malloc read it.

#ifndef FOOTPRINT_PROFILING_SCHEMA_METRIC_TABLE_H_
#define FOOTPRINT_PROFILING_SCHEMA_METRIC_TABLE_H_

#include <algorithm>
#include <cstdint>

namespace footprint {

enum class MetricUnit { kNone, kBytes, kCount };

// A quantity that the heap's counters know at every moment.
enum class HeapQuantity {
  kLiveBytes,
  kAllocatedBytes,  // ever handed out
  kAllocationCount,
  kMappedBytes,
  kRequestedBytes,  // live; counted by exact_heap_with_requested_bytes only
};
inline constexpr int kHeapQuantityCount = 5;

// The figure of a quantity that a metric tells, from the start to the end of a
// phase.
enum class HeapStatistic {
  kNetPeak,       // the highest, less what there was at the start
  kAbsolutePeak,  // the highest
  kNetChange,     // at the end, less what there was at the start
  // The highest sum of the threads' own net peaks, over every order of those
  // that can be alive at once. For live bytes only.
  kNetThreadPeakSum,
};

// A phase that is visited again: changes add up, peaks do not.
constexpr int64_t CombineVisits(HeapStatistic statistic, int64_t earlier,
                                int64_t visit) {
  return statistic == HeapStatistic::kNetChange ? earlier + visit
                                                : std::max(earlier, visit);
}

// Returns whether threads that may overlap make another figure in another
// order.
constexpr bool DependsOnThreadOrder(HeapStatistic statistic) {
  return statistic == HeapStatistic::kNetPeak ||
         statistic == HeapStatistic::kAbsolutePeak;
}

}  // namespace footprint

// ROW(kind in the schema, MetricUnit, short name, HeapQuantity, HeapStatistic,
//     member of HeapPhaseBytes), in the order of a profile.
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

// ROW(kind, unit, short name, value): EXACT, of a program and its startup.
#define FOOTPRINT_IMAGE_METRICS(ROW) \
  ROW(IMAGE_BYTES, kBytes, "image", LoadedImageBytes())

// ROW(kind, unit, short name, value): STATISTICAL, of the whole process, by
// `resident` (ResidentBytes) and `allocator` (AllocatorBytes).
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
