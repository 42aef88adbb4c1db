// Makes known calls in a phase "loop", and prints what the whole needed: bytes
// at its peak, bytes left, bytes allocated, and bytes mapped at the peak.

#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/recording/memory_phase.h"

namespace {

constexpr int kCalls = 10;
constexpr size_t kBlockBytes = 1024;

// One block after the other: at most one is held.
void MakeCalls() {
  for (int i = 0; i < kCalls; ++i) {
    void* volatile block = std::malloc(kBlockBytes);
    std::free(block);
  }
}

}  // namespace

int main() {
  const footprint::HeapPhase whole = footprint::BeginHeapPhase();
  {
    const footprint::MemoryPhase phase("loop");
    MakeCalls();
  }
  const footprint::HeapPhaseBytes bytes = footprint::EndHeapPhase(whole);
  std::printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
              bytes.peak_live_net_bytes, bytes.net_growth_bytes,
              bytes.allocated_bytes, bytes.peak_mapped_net_bytes);
  return 0;
}
