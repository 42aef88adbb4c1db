#include "footprint/profiling/heap/heap_accounting.h"

#include <unistd.h>

#include <cstdlib>

#include "footprint/profiling/heap/heap_ledger.h"

namespace footprint {

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

HeapRegionBytes ReadHeapRegion(const HeapRegion& region) {
  return profiling_internal::ReadRegion(region.number);
}

HeapRegionBytes EndHeapRegion(const HeapRegion& region) {
  return profiling_internal::CloseRegion(region.number);
}

HeapRegion ProcessHeapRegion() { return {profiling_internal::kProcessRegion}; }

int64_t LiveHeapBytes() { return profiling_internal::LedgerLiveBytes(); }

int CountedForks() { return profiling_internal::ForkedProcessCount(); }

}  // namespace footprint
