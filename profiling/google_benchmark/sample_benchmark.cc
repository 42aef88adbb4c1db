// Benchmarks whose memory is known by construction, for
// benchmark_profiler_test. Each requests sizes that the allocator does not
// round.

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "benchmark/benchmark.h"
#include "footprint/profiling/recording/memory_phase.h"

namespace {

constexpr int64_t kMebibyte = 1 << 20;

class Block {
 public:
  explicit Block(int64_t size_bytes)
      : bytes_(std::malloc(static_cast<size_t>(size_bytes))) {
    benchmark::DoNotOptimize(bytes_);
  }
  ~Block() { std::free(bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  void* bytes_;
};

// Holds 4 MiB before the loop, `mebibytes` in it, and 1 MiB after it.
void BM_HoldBlock(benchmark::State& state) {
  Block held(4 * kMebibyte);
  for (auto _ : state) {
    Block block(state.range(0) * kMebibyte);
  }
  Block after(kMebibyte);
}
BENCHMARK(BM_HoldBlock)->ArgName("mebibytes")->Arg(1)->Arg(8);

// Leaves three blocks in three iterations.
void BM_LeaveBlocks(benchmark::State& state) {
  void* blocks[3] = {};
  int count = 0;
  while (state.KeepRunning()) {
    if (count < 3) blocks[count++] = std::malloc(kMebibyte);
  }
  for (void* block : blocks) std::free(block);
}
BENCHMARK(BM_LeaveBlocks)->Iterations(3);

void BM_NamePhases(benchmark::State& state) {
  for (auto _ : state) {
    footprint::MemoryPhase load("load");
    Block block(2 * kMebibyte);
    footprint::MemoryPhase parse("parse");
    Block inner(kMebibyte);
  }
}
BENCHMARK(BM_NamePhases);

// Has a phase of the user's that is open when the loop begins.
void BM_LoopInsidePhase(benchmark::State& state) {
  footprint::MemoryPhase fit("fit");
  for (auto _ : state) Block block(2 * kMebibyte);
}
BENCHMARK(BM_LoopInsidePhase);

// Both threads hold 1 MiB; the scheduler decides when.
void BM_TwoThreads(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) Block block(kMebibyte);
  }
}
BENCHMARK(BM_TwoThreads)->Threads(2);

// Would run five times for a second; the first iteration counts.
void BM_RunLong(benchmark::State& state) {
  for (auto _ : state) Block block(kMebibyte);
}
BENCHMARK(BM_RunLong)->MinTime(0.05);
BENCHMARK(BM_RunLong)->Repetitions(5)->ReportAggregatesOnly();

void BM_OneThreadFails(benchmark::State& state) {
  if (state.thread_index() == 1 &&
      std::getenv("FOOTPRINT_SAMPLE_FAILS") != nullptr) {
    state.SkipWithError("as asked");
    return;
  }
  for (auto _ : state) {
  }
}
BENCHMARK(BM_OneThreadFails)->Threads(2);

// One thread reaches the loop long before the other has set up.
void BM_LateSetup(benchmark::State& state) {
  if (state.thread_index() == 1) {
    usleep(50000);
    Block block(kMebibyte);
  }
  for (auto _ : state) {
  }
}
BENCHMARK(BM_LateSetup)->Threads(2);

void BM_Fail(benchmark::State& state) {
  if (std::getenv("FOOTPRINT_SAMPLE_FAILS") != nullptr) {
    state.SkipWithError("as asked");
  }
  for (auto _ : state) {
  }
}
BENCHMARK(BM_Fail);

}  // namespace
