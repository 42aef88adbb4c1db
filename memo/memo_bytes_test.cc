#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/base/memory/allocator.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/load_meter.h"
#include "footprint/memo/memo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Bytes = std::vector<char>;

TEST(MemoBytesTest, AreExactWithoutWhatOtherMemosHold) {
  auto inner = MakeMemo<Bytes>(
      "inner", [] { return absl::StatusOr<Bytes>(Bytes(1 << 20)); });
  auto outer = MakeMemo<Bytes>("outer", [&]() -> absl::StatusOr<Bytes> {
    auto handle = inner->Get();
    if (!handle.ok()) return handle.status();
    return Bytes((*handle)->size() * 2);
  });
  ASSERT_THAT(outer->Get(), IsOk());
  // jemalloc gives both sizes exactly; the vector itself lies in the memo.
  const MemoStatistics inside = inner->statistics();
  const MemoStatistics outside = outer->statistics();
  EXPECT_EQ(inside.bytes_source, BytesSource::kMeasured);
  // A block of 8 KiB or more may be one size class larger.
  EXPECT_EQ(inside.live_bytes, 1 << 20);
  EXPECT_EQ(outside.live_bytes, 2 << 20);
  EXPECT_EQ(ReadMemoTotals().live_bytes, 3 << 20);
  ASSERT_THAT(ClearMemos(), IsOk());
  EXPECT_EQ(ReadMemoTotals().live_bytes, 0);
  EXPECT_EQ(ReadMemoTotals().peak_bytes, 3 << 20);
}

TEST(MemoBytesTest, AWrongDeclarationShows) {
  auto right = MakeMemo<Bytes>(
      "right", [] { return absl::StatusOr<Bytes>(Bytes(1 << 20)); }, 1 << 20);
  auto wrong = MakeMemo<Bytes>(
      "wrong", [] { return absl::StatusOr<Bytes>(Bytes(1 << 20)); }, 1000);
  ASSERT_THAT(right->Get(), IsOk());
  ASSERT_THAT(wrong->Get(), IsOk());
  EXPECT_FALSE(right->statistics().declared_bytes_differ);
  EXPECT_TRUE(wrong->statistics().declared_bytes_differ);
  EXPECT_EQ(wrong->statistics().live_bytes, 1 << 20);
}

// Returns 16 MiB in blocks of 4 KiB, which an allocator would keep for reuse.
absl::StatusOr<std::vector<Bytes>> SmallBlocks() {
  return std::vector<Bytes>(4096, Bytes(4096));
}

TEST(MemoBytesTest, AnEvictionReturnsTheMemoryToTheSystem) {
  constexpr int64_t kMebibyte = 1 << 20;
  auto memo = MakeMemo<std::vector<Bytes>>("small blocks", SmallBlocks);
  const int64_t before_bytes = ReadAllocatorBytes().resident_bytes;
  ASSERT_THAT(memo->Get(), IsOk());
  EXPECT_GE(ReadAllocatorBytes().resident_bytes, before_bytes + 15 * kMebibyte);
  ASSERT_THAT(memo->Evict(), IsOk());
  EXPECT_LE(ReadAllocatorBytes().resident_bytes, before_bytes + kMebibyte);
  // With kKeepFreeMemory the allocator keeps it.
  ASSERT_THAT(memo->Get(), IsOk());
  ASSERT_THAT(memo->Evict(AfterEviction::kKeepFreeMemory), IsOk());
  EXPECT_GE(ReadAllocatorBytes().resident_bytes, before_bytes + 8 * kMebibyte);
}

struct BlocksThatThrowAtTheirEnd {
  ~BlocksThatThrowAtTheirEnd() noexcept(false) {
    if (!blocks.empty()) throw std::runtime_error("no end");
  }
  BlocksThatThrowAtTheirEnd() = default;
  BlocksThatThrowAtTheirEnd(BlocksThatThrowAtTheirEnd&&) noexcept = default;

  std::vector<Bytes> blocks;
};

TEST(MemoBytesTest, AnEvictionWhoseDestructorThrowsReturnsTheMemory) {
  constexpr int64_t kMebibyte = 1 << 20;
  auto memo = MakeMemo<BlocksThatThrowAtTheirEnd>("throws", [] {
    BlocksThatThrowAtTheirEnd value;
    value.blocks = *SmallBlocks();
    return absl::StatusOr<BlocksThatThrowAtTheirEnd>(std::move(value));
  });
  PurgeFreeMemory();  // what the tests before left
  const int64_t before_bytes = ReadAllocatorBytes().resident_bytes;
  ASSERT_THAT(memo->Get(), IsOk());
  EXPECT_GE(ReadAllocatorBytes().resident_bytes, before_bytes + 15 * kMebibyte);
  EXPECT_THAT(memo->Evict(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_LE(ReadAllocatorBytes().resident_bytes, before_bytes + kMebibyte);
}

TEST(MemoBytesTest, AllocationsOfWorkerThreadsAreFlagged) {
  auto alone = MakeMemo<Bytes>(
      "alone", [] { return absl::StatusOr<Bytes>(Bytes(16 << 20)); });
  auto worker = MakeMemo<Bytes>("worker", [] {
    Bytes bytes;
    std::thread([&] { bytes.resize(16 << 20); }).join();
    return absl::StatusOr<Bytes>(std::move(bytes));
  });
  ASSERT_THAT(alone->Get(), IsOk());
  ASSERT_THAT(worker->Get(), IsOk());
  EXPECT_EQ(alone->statistics().cross_check, CrossCheck::kAgrees);
  EXPECT_EQ(worker->statistics().cross_check, CrossCheck::kDiffers);
  // The best known figure is the growth of the whole process.
  EXPECT_GE(worker->statistics().live_bytes, 15 << 20);
  EXPECT_EQ(worker->statistics().bytes_source, BytesSource::kDoubtful);
  EXPECT_EQ(alone->statistics().doubt, "");
  EXPECT_NE(worker->statistics().doubt, "");
}

TEST(MemoBytesTest, ADeclarationStandsWhereWorkerThreadsAllocated) {
  auto memo = MakeMemo<Bytes>(
      "declared",
      [] {
        Bytes bytes;
        std::thread([&] { bytes.resize(16 << 20); }).join();
        return absl::StatusOr<Bytes>(std::move(bytes));
      },
      16 << 20);
  ASSERT_THAT(memo->Get(), IsOk());
  EXPECT_EQ(memo->statistics().live_bytes, 16 << 20);
  EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kDeclared);
  EXPECT_FALSE(memo->statistics().declared_bytes_differ);
}

// A factory whose worker allocates all of a value.
absl::StatusOr<Bytes> LoadOnWorker(size_t bytes) {
  Bytes value;
  std::thread([&] { value.resize(bytes); }).join();
  return value;
}

TEST(MemoBytesTest, TwoLoadsWithWorkersAtOnceAreInDoubtAndNotTooSmall) {
  std::atomic<int> inside_count{0};
  const auto load = [&] {
    ++inside_count;
    while (inside_count < 2) std::this_thread::yield();
    absl::StatusOr<Bytes> value = LoadOnWorker(16 << 20);
    ++inside_count;
    while (inside_count < 4) std::this_thread::yield();
    return value;
  };
  auto first = MakeMemo<Bytes>("first", load);
  auto second = MakeMemo<Bytes>("second", load);
  std::thread other([&] { EXPECT_THAT(second->Get(), IsOk()); });
  EXPECT_THAT(first->Get(), IsOk());
  other.join();
  for (const auto& memo : {first, second}) {
    EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kDoubtful);
    EXPECT_GE(memo->statistics().live_bytes, 16 << 20);
  }
}

TEST(MemoBytesTest, AnEvictionMeanwhileMakesNoSizeNegative) {
  auto large = MakeMemo<Bytes>(
      "large", [] { return absl::StatusOr<Bytes>(Bytes(64 << 20)); });
  ASSERT_THAT(large->Get(), IsOk());
  auto memo = MakeMemo<Bytes>("beside", [&] {
    Bytes value(16 << 20);
    std::thread([&] { EXPECT_THAT(large->Evict(), IsOk()); }).join();
    return absl::StatusOr<Bytes>(std::move(value));
  });
  ASSERT_THAT(memo->Get(), IsOk());
  // At most the thread's own blocks are added.
  EXPECT_GE(memo->statistics().live_bytes, 16 << 20);
  EXPECT_LE(memo->statistics().live_bytes, 17 << 20);
  EXPECT_GE(ReadMemoTotals().live_bytes, 16 << 20);
}

// The freed bytes count for the other thread, which is metered, so no byte is
// unexplained.
TEST(MemoBytesTest, AnEvictionByAThreadThatGoesOnIsNoDoubt) {
  auto large = MakeMemo<Bytes>("evicted meanwhile", [] {
    return absl::StatusOr<Bytes>(Bytes(64 << 20));
  });
  std::atomic<int> turn{0};
  std::thread evicting([&] {
    // The thread allocates what it needs for this before the meter begins.
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(large->Get(), IsOk());
      EXPECT_THAT(large->Evict(AfterEviction::kKeepFreeMemory), IsOk());
    }
    EXPECT_THAT(large->Get(), IsOk());
    for (turn = 1; turn < 2;) std::this_thread::yield();
    EXPECT_THAT(large->Evict(AfterEviction::kKeepFreeMemory), IsOk());
    for (turn = 3; turn < 4;) std::this_thread::yield();
  });
  while (turn < 1) std::this_thread::yield();
  auto memo = MakeMemo<Bytes>("beside a thread that evicts", [&] {
    for (turn = 2; turn < 3;) std::this_thread::yield();
    return absl::StatusOr<Bytes>(Bytes(16 << 20));
  });
  EXPECT_THAT(memo->Get(), IsOk());
  turn = 4;
  evicting.join();
  EXPECT_EQ(memo->statistics().live_bytes, 16 << 20);
  EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kMeasured)
      << memo->statistics().doubt;
}

TEST(MemoBytesTest, AMemoWithinAFactoryMayEndThere) {
  auto memo =
      MakeMemo<Bytes>("from a local memo", []() -> absl::StatusOr<Bytes> {
        auto local = MakeMemo<Bytes>(
            "local", [] { return absl::StatusOr<Bytes>(Bytes(64 << 20)); });
        auto handle = local->Get();
        if (!handle.ok()) return handle.status();
        return Bytes((*handle)->size() / 16);
      });
  ASSERT_THAT(memo->Get(), IsOk());
  EXPECT_EQ(memo->statistics().live_bytes, 4 << 20);
  EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kMeasured);
  EXPECT_GE(memo->statistics().load_peak_bytes, 68 << 20);
}

TEST(MemoBytesTest, AFewBytesOfAWorkerAreADoubt) {
  auto memo = MakeMemo<Bytes>("small", [] { return LoadOnWorker(1000); });
  ASSERT_THAT(memo->Get(), IsOk());
  EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kDoubtful);
  EXPECT_GE(memo->statistics().live_bytes, 1000);
}

TEST(MemoBytesTest, AValueThatWasThereBeforeIsInDoubt) {
  const auto make = [](const std::string& name, int64_t declared_bytes) {
    return *MakeMemo<Bytes>(
        name,
        [value = Bytes(16 << 20)]() mutable {
          return absl::StatusOr<Bytes>(std::move(value));
        },
        declared_bytes);
  };
  const Memo<Bytes> unknown = make("moved in", 0);
  const Memo<Bytes> declared = make("moved in, declared", 16 << 20);
  const Memo<int> number = *MakeMemo<int>("number", [] { return 7; });
  ASSERT_THAT(unknown.Get(), IsOk());
  ASSERT_THAT(declared.Get(), IsOk());
  ASSERT_THAT(number.Get(), IsOk());
  EXPECT_EQ(unknown.statistics().bytes_source, BytesSource::kDoubtful);
  EXPECT_EQ(declared.statistics().bytes_source, BytesSource::kDeclared);
  EXPECT_EQ(declared.statistics().live_bytes, 16 << 20);
  EXPECT_NE(declared.statistics().doubt, "");
  // An int lies within its memo and can own no memory.
  EXPECT_EQ(number.statistics().bytes_source, BytesSource::kMeasured);
}

// The value has two parts, and the first existed before the load.
TEST(MemoBytesTest, ALoadOfLessThanWasDeclaredIsInDoubt) {
  using Parts = std::vector<Bytes>;
  const auto make = [](const std::string& name, int64_t declared_bytes) {
    return *MakeMemo<Parts>(
        name,
        [first = Bytes(16 << 20)]() mutable {
          Parts parts;
          parts.push_back(std::move(first));
          parts.emplace_back(1 << 20);
          return absl::StatusOr<Parts>(std::move(parts));
        },
        declared_bytes);
  };
  const Memo<Parts> declared = make("partly moved in", 17 << 20);
  ASSERT_THAT(declared.Get(), IsOk());
  EXPECT_EQ(declared.statistics().live_bytes, 17 << 20);
  EXPECT_EQ(declared.statistics().bytes_source, BytesSource::kDeclared);
  EXPECT_THAT(declared.statistics().doubt,
              testing::HasSubstr("less than was declared"));
}

// Unmaps the memory when it is destroyed, as a mapped checkpoint does.
struct Unmap {
  size_t bytes;
  void operator()(void* begin) const { munmap(begin, bytes); }
};
using Mapped = std::unique_ptr<void, Unmap>;

// A joined thread remains in the kernel's list for a moment.
void WaitUntilAlone() {
  struct stat threads;
  do {
    ASSERT_EQ(stat("/proc/self/task", &threads), 0);
  } while (threads.st_nlink > 3);
}

TEST(MemoBytesTest, AMappedFileCounts) {
  WaitUntilAlone();
  const std::string path = testing::TempDir() + "/weights";
  std::ofstream(path) << std::string(1 << 20, 'w');
  const auto load = [&] {
    const int file = open(path.c_str(), O_RDONLY);
    void* const begin = mmap(nullptr, 1 << 20, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    return absl::StatusOr<Mapped>(Mapped(begin, Unmap{1 << 20}));
  };
  const auto memo = MakeMemo<Mapped>("mapped", load);
  const auto declared = MakeMemo<Mapped>("mapped, declared", load, 1 << 20);
  for (const auto& mapped : {memo, declared}) {
    ASSERT_THAT(mapped->Get(), IsOk());
    EXPECT_EQ(mapped->statistics().live_bytes, 1 << 20);
    EXPECT_EQ(mapped->statistics().mapped_bytes, 1 << 20);
    // Otherwise the mapping may be the stack of a thread of an earlier test.
    if (memo_internal::StacksAreTold()) {
      EXPECT_EQ(mapped->statistics().bytes_source, BytesSource::kMeasured);
    }
  }
}

// Counts its living objects.
struct Counted {
  explicit Counted(std::atomic<int>* live) : live_count(live) { ++*live; }
  Counted(Counted&& other) noexcept
      : live_count(other.live_count), bytes(std::move(other.bytes)) {
    ++*live_count;
  }
  Counted& operator=(Counted&&) = delete;
  ~Counted() { --*live_count; }
  std::atomic<int>* live_count;
  Bytes bytes = Bytes(1 << 20);
};

TEST(MemoBytesTest, ACancelledThreadLeavesALoadedValueToItsMemo) {
  std::atomic<int> live_count{0};
  auto memo = MakeMemo<Counted>("cancelled at the end", [&] {
    // The cancellation takes effect at the next cancellation point.
    pthread_cancel(pthread_self());
    return absl::StatusOr<Counted>(Counted(&live_count));
  });
  std::thread([&] {
    (void)memo->Get().ok();
    pthread_testcancel();
    ADD_FAILURE() << "the thread goes on";
  }).join();
  EXPECT_EQ(live_count, 1);
  EXPECT_EQ(memo->statistics().load_count, 1u);
  EXPECT_TRUE(memo->statistics().is_loaded);
  EXPECT_THAT(memo->Evict(), IsOk());
  EXPECT_EQ(live_count, 0);
}

// The thread is cancelled in the inner factory, or when its memo ends.
TEST(MemoBytesTest, AThreadMayBeCancelledWithinNestedMemos) {
  for (const bool ends_within : {false, true}) {
    std::atomic<int> count{0};
    auto inner = MakeMemo<Bytes>("inner of a cancelled", [&] {
      if (++count == 1) {
        pthread_cancel(pthread_self());
        if (ends_within) pthread_testcancel();
      }
      return absl::StatusOr<Bytes>(Bytes(1 << 20));
    });
    auto outer =
        MakeMemo<Bytes>("outer of a cancelled", [&]() -> absl::StatusOr<Bytes> {
          auto handle = inner->Get();
          if (!handle.ok()) return handle.status();
          pthread_testcancel();
          return Bytes(2 << 20);
        });
    std::thread([&] {
      (void)outer->Get().ok();
      ADD_FAILURE() << "the thread goes on";
    }).join();
    EXPECT_EQ(inner->statistics().is_loaded, !ends_within);
    EXPECT_FALSE(outer->statistics().is_loaded);
    EXPECT_EQ(outer->statistics().failed_load_count, 1u);
    ASSERT_THAT(outer->Get(), IsOk());
    EXPECT_EQ(outer->statistics().live_bytes, 2 << 20);
    EXPECT_THAT(ClearMemos(), IsOk());
  }
}

}  // namespace
}  // namespace footprint
