#include "footprint/profiling/heap/heap_accounting.h"

#include <unistd.h>

#include <cstdlib>

#include "footprint/profiling/heap/heap_counters.h"

namespace footprint {

bool HeapIsAccounted() { return profiling_internal::CountersAreInUse(); }

bool RequestedBytesAreCounted() {
  return profiling_internal::RequestedBytesHaveCounter();
}

HeapPhase BeginHeapPhase() {
  const int number = profiling_internal::BeginPhase();
  if (number < 0) {
    static constexpr char kMessage[] =
        "footprint: more than 32 heap phases are open at once; end one before "
        "beginning another\n";
    // Not through stdio, which may allocate.
    if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) std::abort();
    std::abort();
  }
  return {number};
}

HeapPhaseBytes ReadHeapPhase(const HeapPhase& phase) {
  return profiling_internal::ReadPhase(phase.number);
}

HeapPhaseBytes EndHeapPhase(const HeapPhase& phase) {
  return profiling_internal::EndPhase(phase.number);
}

HeapPhase ProcessHeapPhase() { return {profiling_internal::kProcessPhase}; }

int64_t LiveHeapBytes() { return profiling_internal::ProcessLiveBytes(); }

int CountedForks() { return profiling_internal::ForkedProcessCount(); }

}  // namespace footprint
