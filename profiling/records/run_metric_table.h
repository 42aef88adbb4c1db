// The figures of a process and of a stage, one row each.
//
//   struct StageRecord {
//   #define FOOTPRINT_MEMBER(field, ...) std::atomic<int64_t> field;
//     FOOTPRINT_STAGE_METRICS(FOOTPRINT_MEMBER)
//   #undef FOOTPRINT_MEMBER
//   };
//
// The agent's records, their readers, reports, the comparison, JSON and the
// profile use the rows. To add a figure, add a row here, and a field of the
// same name to MeasuredImage or StageFigures in measured_run.proto.
//
// Constants: thread-safe, and nothing is owned.

#ifndef FOOTPRINT_PROFILING_RECORDS_RUN_METRIC_TABLE_H_
#define FOOTPRINT_PROFILING_RECORDS_RUN_METRIC_TABLE_H_

// ROW(field, its value in the agent, unit, name in reports, detail). The totals
// of a process at its end. Reports show a row without a name in their own
// words. `bytes` is the HeapPhaseBytes of the process.
#define FOOTPRINT_PROCESS_METRICS(ROW)                                         \
  ROW(live_bytes, LiveHeapBytes(), kBytes, "left at exit", "never freed")      \
  ROW(allocated_bytes, bytes.allocated_bytes, kBytes, nullptr, "")             \
  ROW(allocation_count, bytes.allocation_count, kCount, "calls", "of malloc")  \
  ROW(sum_thread_peak_bytes, bytes.sum_thread_peak_net_bytes, kBytes, nullptr, \
      "")                                                                      \
  ROW(peak_resident_bytes, ReadResidentBytes().peak_bytes, kBytes, nullptr,    \
      "")                                                                      \
  ROW(thread_count, bytes.active_thread_count, kCount, nullptr, "")            \
  ROW(threads_may_overlap, bytes.threads_may_overlap, kCount, nullptr, "")

// ROW(field, member of HeapPhaseBytes, whether it is the highest of all visits
// rather than their sum, kind in a profile, which tells the unit, column in
// reports, whether the column is a detail, column of its share, the whole of
// that share). `image` is the MeasuredImage.
#define FOOTPRINT_STAGE_METRICS(ROW)                                        \
  ROW(peak_live_bytes, peak_live_net_bytes, true, PEAK_LIVE_USABLE_BYTES,   \
      "peak above", false, "share", image.peak_live_bytes())                \
  ROW(peak_live_absolute_bytes, peak_live_absolute_bytes, true,             \
      PEAK_LIVE_ABSOLUTE_USABLE_BYTES, "absolute peak", true, nullptr, 0)   \
  ROW(allocated_bytes, allocated_bytes, false, ALLOCATED_USABLE_BYTES,      \
      "allocated", false, "of all", image.allocated_bytes())                \
  ROW(allocation_count, allocation_count, false, ALLOCATION_COUNT, "calls", \
      true, nullptr, 0)                                                     \
  ROW(net_growth_bytes, net_growth_bytes, false, NET_GROWTH_USABLE_BYTES,   \
      "left", false, nullptr, 0)

// Tested by //profiling/records:read_stages_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_RUN_METRIC_TABLE_H_
