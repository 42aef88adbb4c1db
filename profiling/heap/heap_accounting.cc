#include "footprint/profiling/heap/heap_accounting.h"

#include <unistd.h>

#include <cstdlib>

#include "footprint/profiling/heap/heap_ledger.h"

namespace footprint {

using profiling_internal::RegionTotals;

bool HeapIsAccounted() { return profiling_internal::LedgerIsInUse(); }

bool RequestedBytesAreCounted() {
  return profiling_internal::RequestedBytesHaveCounter();
}

HeapRegion BeginHeapRegion() {
  const int number = profiling_internal::OpenRegion();
  if (number < 0) {
    static constexpr char kMessage[] =
        "footprint: more than 32 heap regions are open at once; end one before "
        "beginning another\n";
    // Not through stdio, which may allocate.
    if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) std::abort();
    std::abort();
  }
  return {number};
}

namespace {

HeapRegionBytes ToRegionBytes(const RegionTotals& totals) {
  HeapRegionBytes bytes;
  bytes.peak_live_bytes = totals.peak_live_bytes - totals.begin_live_bytes;
  bytes.peak_live_absolute_bytes = totals.peak_live_bytes;
  bytes.sum_thread_peak_bytes = totals.sum_thread_peak_bytes;
  bytes.allocated_bytes = totals.allocated_bytes;
  bytes.allocation_count = totals.allocation_count;
  bytes.net_growth_bytes = totals.end_live_bytes - totals.begin_live_bytes;
  bytes.peak_mapped_bytes = totals.peak_mapped_bytes;
  bytes.peak_live_requested_bytes = totals.peak_requested_bytes;
  bytes.active_thread_count = totals.active_thread_count;
  bytes.threads_may_overlap = totals.threads_may_overlap;
  return bytes;
}

}  // namespace

HeapRegionBytes ReadHeapRegion(const HeapRegion& region) {
  return ToRegionBytes(profiling_internal::ReadRegion(region.number));
}

HeapRegionBytes EndHeapRegion(const HeapRegion& region) {
  return ToRegionBytes(profiling_internal::CloseRegion(region.number));
}

HeapRegion ProcessHeapRegion() { return {profiling_internal::kProcessRegion}; }

int64_t LiveHeapBytes() { return profiling_internal::LedgerLiveBytes(); }

int CountedForks() { return profiling_internal::ForkedProcessCount(); }

}  // namespace footprint
