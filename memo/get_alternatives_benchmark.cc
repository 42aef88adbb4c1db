// The rows of get_benchmark.cc that need LevelDB and RocksDB: their caches,
// with their default number of shards. Without their headers the rows are
// missing, and the first lines of the output say so. One more row is a hit in a
// loop that cannot throw.

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "footprint/memo/keep_read.h"
#include "footprint/memo/memo.h"

#ifdef FOOTPRINT_HAS_LEVELDB
#include "leveldb/cache.h"
#endif
#ifdef FOOTPRINT_HAS_ROCKSDB
#include "rocksdb/cache.h"
#endif

namespace footprint {
namespace {

#if defined(FOOTPRINT_HAS_LEVELDB) || defined(FOOTPRINT_HAS_ROCKSDB)
constexpr size_t kCapacityBytes = 1 << 20;
// RocksDB's HyperClockCache takes keys of 16 bytes only.
constexpr char kKey[] = "the hot one's ke";
static_assert(sizeof(kKey) == 17);
int hot_value = 42;
#endif

#ifdef FOOTPRINT_HAS_LEVELDB
void BM_LookUpLevelDb(benchmark::State& state) {
  static leveldb::Cache* const cache = [] {
    leveldb::Cache* made = leveldb::NewLRUCache(kCapacityBytes);
    made->Release(made->Insert(kKey, &hot_value, sizeof(hot_value),
                               [](const leveldb::Slice&, void*) {}));
    return made;
  }();
  const leveldb::Slice key(kKey);
  for (auto _ : state) {
    leveldb::Cache::Handle* handle = cache->Lookup(key);
    if (handle == nullptr) {
      state.SkipWithError("the entry is gone");
      break;
    }
    memo_internal::KeepRead(*static_cast<int*>(cache->Value(handle)));
    cache->Release(handle);
  }
}
BENCHMARK(BM_LookUpLevelDb)->ThreadRange(1, 2);
#endif

#ifdef FOOTPRINT_HAS_ROCKSDB
void LookUpRocksDb(benchmark::State& state, rocksdb::Cache* cache) {
  const rocksdb::Slice key(kKey, 16);
  for (auto _ : state) {
    rocksdb::Cache::Handle* handle = cache->Lookup(key);
    if (handle == nullptr) {
      state.SkipWithError("the entry is gone");
      break;
    }
    memo_internal::KeepRead(*static_cast<int*>(cache->Value(handle)));
    cache->Release(handle);
  }
}

rocksdb::Cache* WithHotEntry(const std::shared_ptr<rocksdb::Cache>& cache) {
  static auto* const kept = new std::vector<std::shared_ptr<rocksdb::Cache>>;
  kept->push_back(cache);
  const rocksdb::Status inserted =
      cache->Insert(rocksdb::Slice(kKey, 16), &hot_value, sizeof(hot_value),
                    [](const rocksdb::Slice&, void*) {});
  (void)inserted;  // A row whose entry is missing reports it.
  return cache.get();
}

void BM_LookUpRocksDbLru(benchmark::State& state) {
  static rocksdb::Cache* const cache =
      WithHotEntry(rocksdb::NewLRUCache(kCapacityBytes));
  LookUpRocksDb(state, cache);
}
BENCHMARK(BM_LookUpRocksDbLru)->ThreadRange(1, 2);

void BM_LookUpRocksDbHyperClock(benchmark::State& state) {
  static rocksdb::Cache* const cache = WithHotEntry(
      rocksdb::HyperClockCacheOptions(kCapacityBytes, 64).MakeSharedCache());
  LookUpRocksDb(state, cache);
}
BENCHMARK(BM_LookUpRocksDbHyperClock)->ThreadRange(1, 2);
#endif

// This is BM_GetMemo, except that nothing can throw while the handle lives: the
// compiler then keeps the handle in registers, whereas BM_GetMemo's is on the
// stack.
void BM_GetMemoThatCannotThrow(benchmark::State& state) {
  static const Memo<int>* const made =
      new Memo<int>(*MakeMemo<int>("hot one", [] { return 42; }));
  const Memo<int>& memo = *made;
  (void)memo.Get().ok();
  bool is_loaded = true;
  for (auto _ : state) {
    absl::StatusOr<Handle<int>> handle = memo.Get();
    if (!handle.ok()) {
      is_loaded = false;
      break;
    }
    memo_internal::KeepRead(**handle);
  }
  if (!is_loaded) state.SkipWithError("the memo did not load");
}
BENCHMARK(BM_GetMemoThatCannotThrow)->ThreadRange(1, 2);

// This runs before main, like the registration of the benchmarks.
const bool alternatives_are_told = [] {
#ifdef FOOTPRINT_HAS_LEVELDB
  benchmark::AddCustomContext("LevelDB", "present");
#else
  benchmark::AddCustomContext("LevelDB", "absent: install libleveldb-dev");
#endif
#ifdef FOOTPRINT_HAS_ROCKSDB
  benchmark::AddCustomContext("RocksDB", "present");
#else
  benchmark::AddCustomContext("RocksDB", "absent: install librocksdb-dev");
#endif
  return true;
}();

}  // namespace
}  // namespace footprint
