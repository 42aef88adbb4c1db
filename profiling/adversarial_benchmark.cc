// Benchmarks that allocate where programs seldom do, fail as programs may, or
// use Google Benchmark in its less usual ways; adversarial_benchmark_test knows
// what each must need. With FOOTPRINT_LEAVE_EARLY set, some leave their loop.

#include <dlfcn.h>
#include <errno.h>

#include <csignal>
#include <cstdlib>
#include <new>

#include "benchmark/benchmark.h"

namespace {

constexpr size_t kMebibyte = 1 << 20;

class Block {
 public:
  explicit Block(size_t size_bytes) : bytes_(std::malloc(size_bytes)) {
    benchmark::DoNotOptimize(bytes_);
  }
  ~Block() { std::free(bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  void* bytes_;
};

// Before main, and after its end.
class StaticBlock {
 public:
  ~StaticBlock() { Block late(5 * kMebibyte); }

 private:
  Block block_{3 * kMebibyte};
};
StaticBlock static_block;

void* volatile signal_block = nullptr;

void AllocateInHandler(int /*signal*/) {
  signal_block = std::malloc(2 * kMebibyte);
}

// The signal is raised between two calls, where a handler may allocate.
void BM_AllocateInSignalHandler(benchmark::State& state) {
  std::signal(SIGUSR1, AllocateInHandler);
  for (auto _ : state) {
    std::raise(SIGUSR1);
    std::free(signal_block);
  }
  std::signal(SIGUSR1, SIG_DFL);
}
BENCHMARK(BM_AllocateInSignalHandler);

constexpr char kPlugin[] = "profiling/allocating_plugin.so";

void BM_CallLoadedLibrary(benchmark::State& state) {
  void* library = dlopen(kPlugin, RTLD_NOW);
  if (library == nullptr) {
    state.SkipWithError(dlerror());
    return;
  }
  const auto hold =
      reinterpret_cast<bool (*)(size_t)>(dlsym(library, "HoldFiveBlocks"));
  for (auto _ : state) {
    if (!hold(kMebibyte)) state.SkipWithError("the library got no memory");
  }
  dlclose(library);
}
BENCHMARK(BM_CallLoadedLibrary);

void BM_LoadLibrary(benchmark::State& state) {
  for (auto _ : state) {
    void* library = dlopen(kPlugin, RTLD_NOW);
    if (library == nullptr) {
      state.SkipWithError(dlerror());
    } else {
      dlclose(library);
    }
  }
}
BENCHMARK(BM_LoadLibrary);

void* reserve = nullptr;

void ReleaseReserve() {
  std::free(reserve);
  reserve = nullptr;
  std::set_new_handler(nullptr);
}

void BM_ThrowFromNew(benchmark::State& state) {
  volatile size_t too_much = SIZE_MAX / 4;
  bool has_thrown = false;
  for (auto _ : state) {
    reserve = std::malloc(2 * kMebibyte);
    std::set_new_handler(ReleaseReserve);
    try {
      benchmark::DoNotOptimize(::operator new(too_much));
    } catch (const std::bad_alloc&) {
      has_thrown = reserve == nullptr;
    }
  }
  if (!has_thrown) state.SkipWithError("operator new did not throw");
}
BENCHMARK(BM_ThrowFromNew);

// True if every call is refused as its manual page says.
bool BadAlignmentsAreRefused() {
  int untouched = 0;
  void* block = &untouched;
  volatile size_t bad_alignments[] = {0, 2, 3, 24};
  for (const size_t alignment : bad_alignments) {
    if (posix_memalign(&block, alignment, 100) != EINVAL) return false;
  }
  volatile size_t too_much = SIZE_MAX / 4;
  if (posix_memalign(&block, 64, too_much) != ENOMEM) return false;
  return block == &untouched && aligned_alloc(bad_alignments[2], 96) == nullptr;
}

void BM_AskForBadAlignment(benchmark::State& state) {
  for (auto _ : state) {
    if (!BadAlignmentsAreRefused()) state.SkipWithError("it was not refused");
  }
}
BENCHMARK(BM_AskForBadAlignment);

class BlockFixture : public benchmark::Fixture {
 public:
  using benchmark::Fixture::SetUp;
  using benchmark::Fixture::TearDown;
  void SetUp(const benchmark::State& /*state*/) override {
    block_ = std::malloc(4 * kMebibyte);
  }
  void TearDown(const benchmark::State& /*state*/) override {
    std::free(block_);
  }

 private:
  void* block_ = nullptr;
};

BENCHMARK_F(BlockFixture, BM_HoldInFixture)(benchmark::State& state) {
  for (auto _ : state) Block block(kMebibyte);
}

// One batch: ten calls, of which none is left out.
void BM_RunBatch(benchmark::State& state) {
  while (state.KeepRunningBatch(10)) {
    for (int i = 0; i < 10; ++i) Block block(kMebibyte);
  }
}
BENCHMARK(BM_RunBatch);

void BM_FitComplexity(benchmark::State& state) {
  for (auto _ : state) Block block(static_cast<size_t>(state.range(0)));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_FitComplexity)
    ->RangeMultiplier(2)
    ->Range(1 << 20, 1 << 22)
    ->Complexity(benchmark::oN);

void BM_HaveAnOddName(benchmark::State& state) {
  for (auto _ : state) Block block(kMebibyte);
}
BENCHMARK(BM_HaveAnOddName)->Name("BM_<Odd>&\"Name\"::of|it,all");

bool LeavesEarly() { return std::getenv("FOOTPRINT_LEAVE_EARLY") != nullptr; }

void BM_LeaveLoopByBreak(benchmark::State& state) {
  for (auto _ : state) {
    Block block(kMebibyte);
    if (LeavesEarly()) break;
  }
}
BENCHMARK(BM_LeaveLoopByBreak);

void BM_LeaveLoopByReturn(benchmark::State& state) {
  while (state.KeepRunning()) {
    if (LeavesEarly()) return;
  }
}
BENCHMARK(BM_LeaveLoopByReturn);

void BM_LeaveLoopInOneThread(benchmark::State& state) {
  for (auto _ : state) {
    if (LeavesEarly() && state.thread_index() == 1) break;
  }
}
BENCHMARK(BM_LeaveLoopInOneThread)->Threads(2);

void BM_NoLoop(benchmark::State& state) {
  if (LeavesEarly()) return;
  for (auto _ : state) {
  }
}
BENCHMARK(BM_NoLoop);

}  // namespace
