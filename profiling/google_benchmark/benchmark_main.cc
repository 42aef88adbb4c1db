// The main function of a benchmark program; see benchmark_profiler.h.

#include "footprint/profiling/google_benchmark/benchmark_profiler.h"

int main(int argc, char** argv) {
  return footprint::ProfileBenchmarks(argc, argv,
                                      footprint::RunWithGoogleBenchmark);
}
