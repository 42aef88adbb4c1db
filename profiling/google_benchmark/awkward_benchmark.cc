// Benchmarks that try to disturb their neighbours or the runner, for
// benchmark_profiler_test.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "benchmark/benchmark.h"
#include "footprint/profiling/google_benchmark/benchmark_profiler.h"

namespace {

constexpr size_t kMebibyte = 1 << 20;

void AllocateOnce(benchmark::State& state) {
  for (auto _ : state) {
    void* block = std::malloc(kMebibyte);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}

// Keeps blocks that later benchmarks would find.
void BM_Litter(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) benchmark::DoNotOptimize(std::malloc(3000));
  }
}
BENCHMARK(BM_Litter);

// Grows a block between others. Whether it stays in place depends on the free
// memory.
void BM_ReallocTwo(benchmark::State& state) {
  for (auto _ : state) {
    void* first = std::malloc(kMebibyte);
    void* second = std::malloc(kMebibyte);
    for (size_t i = 2; i <= 4; ++i) {
      first = std::realloc(first, i * kMebibyte);
      second = std::realloc(second, i * kMebibyte);
      benchmark::DoNotOptimize(first);
      benchmark::DoNotOptimize(second);
    }
    std::free(first);
    std::free(second);
  }
}
BENCHMARK(BM_ReallocTwo);

void BM_StartChild(benchmark::State& state) {
  for (auto _ : state) {
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
  }
}
BENCHMARK(BM_StartChild);

void BM_AfterChild(benchmark::State& state) { AllocateOnce(state); }
BENCHMARK(BM_AfterChild);

void BM_ChangeFolder(benchmark::State& state) {
  if (chdir("/") != 0) state.SkipWithError("no folder /");
  AllocateOnce(state);
}
BENCHMARK(BM_ChangeFolder);

void BM_Skip(benchmark::State& state) {
  state.SkipWithError("as it always does");
  for (auto _ : state) {
  }
}
BENCHMARK(BM_Skip);

void BM_Crash(benchmark::State& state) {
  for (auto _ : state) {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
}
BENCHMARK(BM_Crash);

// Without care, each would run many times, and the last ones for millions of
// iterations.
void BM_MinTime(benchmark::State& state) { AllocateOnce(state); }
BENCHMARK(BM_MinTime)->MinTime(0.5);
BENCHMARK(BM_MinTime)->MinTime(0.5)->UseRealTime();
BENCHMARK(BM_MinTime)->MinTime(0.5)->MeasureProcessCPUTime();
BENCHMARK(BM_MinTime)->MinTime(0.5)->UseManualTime();
BENCHMARK(BM_MinTime)->MinTime(0.5)->Threads(2);

void BM_Exit(benchmark::State& state) {
  for (auto _ : state) std::exit(static_cast<int>(state.range(0)));
}
BENCHMARK(BM_Exit)->Arg(0)->Arg(2)->Arg(3);

// Overwrites the file that this process must write, and ends with success.
void BM_Spoil(benchmark::State& state) {
  std::ifstream words("/proc/self/cmdline");
  constexpr char kFlag[] = "--memory_profile_out=";
  for (std::string word; std::getline(words, word, '\0');) {
    if (word.rfind(kFlag, 0) != 0) continue;
    std::ofstream(word.substr(sizeof(kFlag) - 1)) << "spoiled";
  }
  for (auto _ : state) std::exit(0);
}
BENCHMARK(BM_Spoil);

void BM_LaterRepetition(benchmark::State& state) {
  static int repetition = 0;
  if (++repetition % 3 == 2) state.SkipWithError("the second");
  AllocateOnce(state);
}
BENCHMARK(BM_LaterRepetition)->Repetitions(3);
BENCHMARK(BM_LaterRepetition)
    ->Name("BM_LaterAggregate")
    ->Repetitions(3)
    ->ReportAggregatesOnly();

void BM_Foreign(benchmark::State& state) { AllocateOnce(state); }
BENCHMARK(BM_Foreign)->Name("BM_Foreign_caf\xe9");
BENCHMARK(BM_Foreign)->Name("BM_ForeignOther");

void BM_ForeignWord(benchmark::State& state) {
  state.SkipWithError("caf\xe9");
  AllocateOnce(state);
}
BENCHMARK(BM_ForeignWord);

BENCHMARK(BM_Foreign)->Name("BM_Twice");
BENCHMARK(BM_Foreign)->Name("BM_Twice");

// The number of mebibytes that main read.
int input_mebibytes = 0;
void BM_Input(benchmark::State& state) {
  for (auto _ : state) {
    void* block = std::malloc(kMebibyte * static_cast<size_t>(input_mebibytes));
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}
BENCHMARK(BM_Input);

void BM_Named(benchmark::State& state) { AllocateOnce(state); }

void RegisterNames() {
  for (const char* name : {"N\nM", "N", "M", "]\n[", "N[128]", "N{a}", "N(x)",
                           "N<T>", "N]", "N}", "N^.$|*+?\\"}) {
    benchmark::RegisterBenchmark(name, BM_Named);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("AWKWARD_NAMES") != nullptr) RegisterNames();
  if (std::getenv("AWKWARD_INPUT") != nullptr) std::cin >> input_mebibytes;
  const char* const folder = std::getenv("AWKWARD_FOLDER");
  if (folder != nullptr && chdir(folder) != 0) return 4;
  return footprint::ProfileBenchmarks(argc, argv,
                                      footprint::RunWithGoogleBenchmark);
}
