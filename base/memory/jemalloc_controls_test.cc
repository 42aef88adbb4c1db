#include "footprint/base/memory/jemalloc_controls.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "footprint/base/memory/allocator.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

TEST(JemallocControlsTest, AFlushedCacheIsNoLongerCountedAsAllocated) {
  FlushThreadCache();
  const int64_t before_bytes = ReadAllocatorBytes().allocated_bytes;
  {
    std::vector<std::unique_ptr<char[]>> blocks(100);
    for (auto& block : blocks) block = std::make_unique<char[]>(1000);
  }
  EXPECT_GT(ReadAllocatorBytes().allocated_bytes, before_bytes);
  FlushThreadCache();
  EXPECT_EQ(ReadAllocatorBytes().allocated_bytes, before_bytes);
}

TEST(JemallocControlsTest, ThePeakIsWhatTheThreadHadAtMost) {
  constexpr int64_t kBlockBytes = 16 << 20;
  ResetThreadHeapPeak();
  {
    const auto first = std::make_unique<char[]>(kBlockBytes);
    const auto second = std::make_unique<char[]>(kBlockBytes);
  }
  EXPECT_GE(ReadThreadHeapPeakBytes(), 2 * kBlockBytes);
  EXPECT_LE(ReadThreadHeapPeakBytes(), 2 * kBlockBytes + (64 << 10));
  ResetThreadHeapPeak();
  EXPECT_LE(ReadThreadHeapPeakBytes(), 64 << 10);
}

TEST(JemallocControlsTest, FreedAddressesAreRetained) {
  std::make_unique<char[]>(64 << 20);
  PurgeFreeMemory();
  ReadAllocatorBytes();
  EXPECT_GE(ReadRetainedBytes(), 64 << 20);
}

}  // namespace
}  // namespace footprint::memo_internal
