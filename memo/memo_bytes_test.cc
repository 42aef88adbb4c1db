#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/memo/memo.h"
#include "footprint/profiling/allocator.h"
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
  ASSERT_TRUE(outer->Get().ok());
  // jemalloc gives both sizes exactly; the vector itself lies in the memo.
  const MemoStatistics inside = inner->statistics();
  const MemoStatistics outside = outer->statistics();
  EXPECT_EQ(inside.bytes_source, BytesSource::kMeasured);
  // A block of 8 KiB or more may be one size class larger.
  EXPECT_EQ(inside.live_bytes, 1 << 20);
  EXPECT_EQ(outside.live_bytes, 2 << 20);
  EXPECT_EQ(ReadMemoTotals().live_bytes, 3 << 20);
  ASSERT_TRUE(ClearMemos().ok());
  EXPECT_EQ(ReadMemoTotals().live_bytes, 0);
  EXPECT_EQ(ReadMemoTotals().peak_bytes, 3 << 20);
}

TEST(MemoBytesTest, AWrongDeclarationShows) {
  auto right = MakeMemo<Bytes>(
      "right", [] { return absl::StatusOr<Bytes>(Bytes(1 << 20)); }, 1 << 20);
  auto wrong = MakeMemo<Bytes>(
      "wrong", [] { return absl::StatusOr<Bytes>(Bytes(1 << 20)); }, 1000);
  ASSERT_TRUE(right->Get().ok());
  ASSERT_TRUE(wrong->Get().ok());
  EXPECT_FALSE(right->statistics().declared_bytes_differ);
  EXPECT_TRUE(wrong->statistics().declared_bytes_differ);
  EXPECT_EQ(wrong->statistics().live_bytes, 1 << 20);
}

// 16 MiB in blocks of 4 KiB, which an allocator would keep for the next.
absl::StatusOr<std::vector<Bytes>> SmallBlocks() {
  return std::vector<Bytes>(4096, Bytes(4096));
}

TEST(MemoBytesTest, AnEvictionReturnsTheMemoryToTheSystem) {
  constexpr int64_t kMebibyte = 1 << 20;
  auto memo = MakeMemo<std::vector<Bytes>>("small blocks", SmallBlocks);
  const int64_t before_bytes = ReadAllocatorBytes().resident_bytes;
  ASSERT_TRUE(memo->Get().ok());
  EXPECT_GE(ReadAllocatorBytes().resident_bytes, before_bytes + 15 * kMebibyte);
  ASSERT_TRUE(memo->Evict().ok());
  EXPECT_LE(ReadAllocatorBytes().resident_bytes, before_bytes + kMebibyte);
  // On request it stays with the allocator.
  ASSERT_TRUE(memo->Get().ok());
  ASSERT_TRUE(memo->Evict(AfterEviction::kKeepFreeMemory).ok());
  EXPECT_GE(ReadAllocatorBytes().resident_bytes, before_bytes + 8 * kMebibyte);
}

TEST(MemoBytesTest, AllocationsOfWorkerThreadsAreFlagged) {
  auto alone = MakeMemo<Bytes>(
      "alone", [] { return absl::StatusOr<Bytes>(Bytes(16 << 20)); });
  auto worker = MakeMemo<Bytes>("worker", [] {
    Bytes bytes;
    std::thread([&] { bytes.resize(16 << 20); }).join();
    return absl::StatusOr<Bytes>(std::move(bytes));
  });
  ASSERT_TRUE(alone->Get().ok());
  ASSERT_TRUE(worker->Get().ok());
  EXPECT_EQ(alone->statistics().cross_check, CrossCheck::kAgrees);
  EXPECT_EQ(worker->statistics().cross_check, CrossCheck::kDiffers);
  // Nothing better is known than what the whole process has grown by.
  EXPECT_GE(worker->statistics().live_bytes, 15 << 20);
  EXPECT_EQ(worker->statistics().bytes_source, BytesSource::kMeasured);
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
  ASSERT_TRUE(memo->Get().ok());
  EXPECT_EQ(memo->statistics().live_bytes, 16 << 20);
  EXPECT_EQ(memo->statistics().bytes_source, BytesSource::kDeclared);
  EXPECT_FALSE(memo->statistics().declared_bytes_differ);
}

}  // namespace
}  // namespace footprint
