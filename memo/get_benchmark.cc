// Compares the cost of a memo's hit with that of its alternatives. Each loop
// gets a value, reads it and releases it; all threads use the same value.
// Compare only rows of one run: use --benchmark_enable_random_interleaving. The
// benchmark does not measure misses, or caches with more than one entry in use.

#include <any>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/container/flat_hash_map.h"
#include "benchmark/benchmark.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/memo/keep_read.h"
#include "footprint/memo/memo.h"

namespace footprint {
namespace {

using memo_internal::KeepRead;

const Memo<int>& HotMemo() {
  static const Memo<int>* const memo =
      new Memo<int>(*MakeMemo<int>("hot", [] { return 42; }));
  return *memo;
}

void BM_ReadPlainPointer(benchmark::State& state) {
  static const int value = 42;
  const int* pointer = &value;
  for (auto _ : state) {
    benchmark::DoNotOptimize(pointer);
    KeepRead(*pointer);
  }
}

void BM_ReadHeldHandle(benchmark::State& state) {
  const Handle<int> handle = *HotMemo().Get();
  const int* pointer = handle.get();
  for (auto _ : state) {
    benchmark::DoNotOptimize(pointer);
    KeepRead(*pointer);
  }
}

void BM_GetMemo(benchmark::State& state) {
  const Memo<int>& memo = HotMemo();
  (void)memo.Get().ok();
  for (auto _ : state) {
    absl::StatusOr<Handle<int>> handle = memo.Get();
    if (!handle.ok()) {
      state.SkipWithError("the memo did not load");
      break;
    }
    KeepRead(**handle);
  }
}

void BM_CopySharedPointer(benchmark::State& state) {
  static const std::shared_ptr<const int> value = std::make_shared<int>(42);
  for (auto _ : state) {
    std::shared_ptr<const int> copy = value;
    KeepRead(*copy);
  }
}

void BM_LookUpMutexAndMap(benchmark::State& state) {
  static Mutex mutex;
  static std::unordered_map<std::string, std::any> cache ABSL_GUARDED_BY(
      mutex) = {{"hot", std::make_shared<const int>(42)}};
  const std::string key = "hot";
  for (auto _ : state) {
    std::shared_ptr<const int> copy;
    {
      MutexLock lock(&mutex);
      copy = std::any_cast<std::shared_ptr<const int>>(cache.find(key)->second);
    }
    KeepRead(*copy);
  }
}

void BM_LookUpMutexAndFlatHashMap(benchmark::State& state) {
  static Mutex mutex;
  static auto* const cache ABSL_PT_GUARDED_BY(mutex) =
      new absl::flat_hash_map<std::string, std::shared_ptr<const int>>{
          {"hot", std::make_shared<const int>(42)}};
  const std::string key = "hot";
  for (auto _ : state) {
    std::shared_ptr<const int> copy;
    {
      MutexLock lock(&mutex);
      copy = cache->find(key)->second;
    }
    KeepRead(*copy);
  }
}

BENCHMARK(BM_ReadPlainPointer)->ThreadRange(1, 2);
BENCHMARK(BM_ReadHeldHandle)->ThreadRange(1, 2);
BENCHMARK(BM_GetMemo)->ThreadRange(1, 2);
BENCHMARK(BM_CopySharedPointer)->ThreadRange(1, 2);
BENCHMARK(BM_LookUpMutexAndMap)->ThreadRange(1, 2);
BENCHMARK(BM_LookUpMutexAndFlatHashMap)->ThreadRange(1, 2);

}  // namespace
}  // namespace footprint
