// Loads a table in a phase of that name.

#include <cstddef>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/profiling/recording/memory_phase.h"

namespace {

void BM_LoadTable(benchmark::State& state) {
  for (auto _ : state) {
    footprint::MemoryPhase phase("load");
    std::vector<double> table(static_cast<size_t>(state.range(0)) * 100);
    benchmark::DoNotOptimize(table.data());
  }
}
BENCHMARK(BM_LoadTable)->ArgName("rows")->Arg(1000);

}  // namespace
