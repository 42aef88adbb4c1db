// A header of the importer's own and Footprint's of the same path: both are
// included, each under its own name.

#include "footprint/profiling/recording/memory_phase.h"
#include "profiling/recording/memory_phase.h"

int main() {
  const footprint::MemoryPhase phase(LoadPhaseName());
  return 0;
}
