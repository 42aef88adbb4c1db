// Puts exact heap figures into Google Benchmark's own output (console, JSON).
//
//   footprint::BenchmarkMemoryManager manager;
//   benchmark::RegisterMemoryManager(&manager);
//   benchmark::RunSpecifiedBenchmarks();
//
// `benchmark_main` has one that counts only the loop. Google Benchmark measures
// memory in extra iterations, at most 16, on one thread, and this class
// includes what is set up outside the loop. For a figure to judge by, use
// --memory_profile_out (benchmark_profiler.h).
//
// Without exact_heap every figure is 0. Thread-compatible. Memory: none.

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
  // Older releases declare it pure and newer ones lack it, so it is not
  // `override`.
  virtual void Stop(Result* result);  // NOLINT(modernize-use-override)

 protected:
  static void Store(const HeapPhaseBytes& bytes, Result* result);

 private:
  HeapPhase phase_;
};

}  // namespace footprint

// Tested by benchmark_profiler_test.

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_BENCHMARK_MEMORY_MANAGER_H_
