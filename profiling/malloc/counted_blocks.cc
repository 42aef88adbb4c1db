#include "footprint/profiling/malloc/counted_blocks.h"

#include "footprint/base/memory/allocator.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/thread_registration.h"

namespace footprint::profiling_internal {

__thread CountedBytes counted_bytes __attribute__((tls_model("initial-exec")));

ThreadHeapCounters FindCountersOfEntryPoints() {
  return {&counted_bytes.allocated, &counted_bytes.deallocated};
}

// Every free is counted in the same way, so there is nothing to choose.
void ChooseFreeFunctions() {}
void ChooseThreadFreeFunction(ThreadCounters*) {}

}  // namespace footprint::profiling_internal
