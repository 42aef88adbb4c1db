// The figures of a heap phase, one for each row of FOOTPRINT_HEAP_METRICS
// (metric_table.h).
//
//   for (const HeapMetric& metric : kHeapMetrics) {
//     sum += bytes.*metric.member;
//   }
//
// Plain data, thread-compatible; nothing is allocated.

#ifndef FOOTPRINT_PROFILING_HEAP_HEAP_METRICS_H_
#define FOOTPRINT_PROFILING_HEAP_HEAP_METRICS_H_

#include <cstdint>

#include "footprint/profiling/schema/metric_table.h"

namespace footprint {

struct HeapPhaseBytes {
#define FOOTPRINT_MEMBER(kind, unit, short_name, quantity, statistic, member) \
  int64_t member = 0;
  FOOTPRINT_HEAP_METRICS(FOOTPRINT_MEMBER)
#undef FOOTPRINT_MEMBER
  // Threads that allocated, freed or mapped.
  int active_thread_count = 0;
  // True if two threads allocated, freed or mapped, and no creation or join of
  // a thread orders them. Then peaks of the process depend on how they took
  // turns; sum_thread_peak_net_bytes is a bound for every order.
  bool threads_may_overlap = false;
};

struct HeapMetric {
  HeapQuantity quantity;
  HeapStatistic statistic;
  int64_t HeapPhaseBytes::*member;
};

inline constexpr HeapMetric kHeapMetrics[] = {
#define FOOTPRINT_ROW(kind, unit, short_name, quantity, statistic, member) \
  {HeapQuantity::quantity, HeapStatistic::statistic, &HeapPhaseBytes::member},
    FOOTPRINT_HEAP_METRICS(FOOTPRINT_ROW)
#undef FOOTPRINT_ROW
};

}  // namespace footprint

// Tested by heap_accounting_test.

#endif  // FOOTPRINT_PROFILING_HEAP_HEAP_METRICS_H_
