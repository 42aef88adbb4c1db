// Two phases, one inside the other, for memprof to see as stages.

#include <cstdlib>

#include "footprint/profiling/recording/memory_phase.h"

namespace {

void Hold(size_t bytes) {
  void* volatile block = std::malloc(bytes);
  std::free(block);
}

}  // namespace

int main() {
  footprint::MemoryPhase fit("fit");
  Hold(4 << 20);
  {
    const footprint::MemoryPhase epoch("epoch");
    Hold(2 << 20);
  }
  fit.End();
  const footprint::MemoryPhase predict("predict");
  Hold(1 << 20);
}
