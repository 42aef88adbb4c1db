// Exact heap figures in Google Benchmark's own output (console, JSON).
//
//   footprint::BenchmarkMemoryManager manager;
//   benchmark::RegisterMemoryManager(&manager);
//   benchmark::RunSpecifiedBenchmarks();
//
// `benchmark_main` has one that counts the loop alone. Google Benchmark
// measures memory in extra iterations, at most 16, on one thread, and this
// class with what is set up outside of the loop; for a figure to judge by use
// --memory_profile_out (benchmark_profiler.h).
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

 protected:
  static void Store(const HeapPhaseBytes& bytes, Result* result);

 private:
  HeapPhase phase_;
};

}  // namespace footprint

// Tested by benchmark_profiler_test.

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_MEMORY_MANAGER_H_
