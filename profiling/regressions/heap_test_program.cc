// Makes known calls in a phase "loop", and prints what the whole program
// needed: bytes at its peak, bytes left, bytes allocated, and bytes mapped at
// the peak. A phase around "loop" has a longer name than a regression's may
// have. Then it maps one byte more than a page in a phase "mapping", makes a
// call in a phase without a name, and ends a phase "inner" twice inside
// "outer".

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/recording/memory_phase.h"

namespace {

constexpr int kCalls = 10;
constexpr size_t kBlockBytes = 1024;

// Allocates and frees one block after the other, so at most one is live.
void MakeCalls() {
  for (int i = 0; i < kCalls; ++i) {
    void* volatile block = std::malloc(kBlockBytes);
    std::free(block);
  }
}

void MapAndUnmap(size_t size) {
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED) munmap(mapped, size);
}

}  // namespace

int main() {
  static char long_name[300];
  std::memset(long_name, 'x', sizeof(long_name) - 1);
  const footprint::HeapPhase whole = footprint::BeginHeapPhase();
  {
    const footprint::MemoryPhase too_long(long_name);
    const footprint::MemoryPhase phase("loop");
    MakeCalls();
  }
  const footprint::HeapPhaseBytes bytes = footprint::EndHeapPhase(whole);
  {
    const footprint::MemoryPhase phase("mapping");
    MapAndUnmap(static_cast<size_t>(getpagesize()) + 1);
  }
  {
    const footprint::MemoryPhase phase("");
    void* volatile block = std::malloc(kBlockBytes);
    std::free(block);
  }
  {
    const footprint::MemoryPhase outer("outer");
    footprint::MemoryPhase inner("inner");
    inner.End();
  }
  std::printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
              bytes.peak_live_net_bytes, bytes.net_growth_bytes,
              bytes.allocated_bytes, bytes.peak_mapped_net_bytes);
  return 0;
}
