// Includes the importer's own header and Footprint's header of the same path,
// each under its own name.

#include "footprint/profiling/recording/memory_phase.h"
#include "profiling/recording/memory_phase.h"

int main() {
  const footprint::MemoryPhase phase(LoadPhaseName());
  return 0;
}
