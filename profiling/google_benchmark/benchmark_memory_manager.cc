#include "footprint/profiling/google_benchmark/benchmark_memory_manager.h"

namespace footprint {

void BenchmarkMemoryManager::Start() { phase_ = BeginHeapPhase(); }

void BenchmarkMemoryManager::Stop(Result& result) {
  Store(EndHeapPhase(phase_), &result);
}

void BenchmarkMemoryManager::Store(const HeapPhaseBytes& bytes,
                                   Result* result) {
  result->num_allocs = bytes.allocation_count;
  result->max_bytes_used = bytes.peak_live_net_bytes;
  result->total_allocated_bytes = bytes.allocated_bytes;
  result->net_heap_growth = bytes.net_growth_bytes;
}

void BenchmarkMemoryManager::Stop(Result* result) { Stop(*result); }

}  // namespace footprint
