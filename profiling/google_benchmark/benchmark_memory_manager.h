// Exact heap figures in Google Benchmark's own output (console, JSON).
//
//   footprint::BenchmarkMemoryManager manager;
//   benchmark::RegisterMemoryManager(&manager);
//   benchmark::RunSpecifiedBenchmarks();
//
// `benchmark_main` does this by itself. Google Benchmark measures memory in
// extra iterations, at most 16, on one thread, and with what is set up outside
// the loop; for a figure to judge by use --memory_profile_out
// (benchmark_profiler.h).
//
// Thread-compatible. Memory: none.

#ifndef FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_MEMORY_MANAGER_H_
#define FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_MEMORY_MANAGER_H_

#include "benchmark/benchmark.h"
#include "footprint/profiling/heap/heap_accounting.h"

namespace footprint {

class BenchmarkMemoryManager : public benchmark::MemoryManager {
 public:
  void Start() override;
  // Fills num_allocs, max_bytes_used (net of what was live at the start),
  // total_allocated_bytes and net_heap_growth.
  void Stop(Result& result) override;
  // Pure in older releases, gone from newer ones: no `override`.
  virtual void Stop(Result* result);  // NOLINT(modernize-use-override)

 private:
  HeapPhase phase_;
};

}  // namespace footprint

// Tested by benchmark_profiler_test.

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_MEMORY_MANAGER_H_
