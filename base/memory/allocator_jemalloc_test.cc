// Tests of allocator.h's promises with jemalloc.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "footprint/base/memory/allocator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::StartsWith;

// Keeps the compiler from removing an allocation that nothing reads.
void* volatile kept_block;

TEST(AllocatorJemallocTest, NamesJemallocAndItsVersion) {
  char name[64];
  WriteAllocatorName(name, sizeof(name));
  EXPECT_TRUE(IsJemalloc());
  EXPECT_THAT(std::string(name), StartsWith("jemalloc 5."));
}

TEST(AllocatorJemallocTest, ShortensTheNameToTheCapacity) {
  char name[5];
  WriteAllocatorName(name, sizeof(name));
  EXPECT_STREQ(name, "jema");
}

TEST(AllocatorJemallocTest, CountsUsableBytesExactly) {
  const ThreadHeapBytes before = ReadThreadHeapBytes();
  kept_block = std::malloc(100);
  const ThreadHeapBytes held = ReadThreadHeapBytes();
  std::free(kept_block);
  const ThreadHeapBytes after = ReadThreadHeapBytes();
  // 112 is the next size class above 100 in every jemalloc from 5.0.
  EXPECT_EQ(held.allocated_bytes - before.allocated_bytes, 112u);
  EXPECT_EQ(held.live_bytes() - before.live_bytes(), 112);
  EXPECT_EQ(after.live_bytes(), before.live_bytes());
}

TEST(AllocatorJemallocTest, CountersFollowTheThreadThatCalls) {
  kept_block = std::malloc(64);
  const int64_t main_before = ReadThreadHeapBytes().live_bytes();
  int64_t change_in_thread = 0;
  std::thread([&change_in_thread] {
    const int64_t before = ReadThreadHeapBytes().live_bytes();
    std::free(kept_block);
    change_in_thread = ReadThreadHeapBytes().live_bytes() - before;
  }).join();
  EXPECT_EQ(change_in_thread, -64);
  EXPECT_GE(ReadThreadHeapBytes().live_bytes(), main_before);
}

TEST(AllocatorJemallocTest, KnowsWhatTheProcessHolds) {
  const AllocatorBytes before = ReadAllocatorBytes();
  kept_block = std::malloc(8 << 20);
  const AllocatorBytes after = ReadAllocatorBytes();
  std::free(kept_block);
  EXPECT_GE(after.allocated_bytes - before.allocated_bytes, 8 << 20);
  EXPECT_GE(after.active_bytes - before.active_bytes, 8 << 20);
  EXPECT_GE(after.fragmentation_bytes(), 0);
  EXPECT_GE(after.mapped_bytes, after.active_bytes);
}

TEST(AllocatorJemallocTest, PurgesWhatIsFree) {
  void* block = std::malloc(1 << 20);
  std::memset(block, 1, 1 << 20);
  kept_block = block;
  std::free(block);
  EXPECT_TRUE(PurgeFreeMemory());
}

}  // namespace
}  // namespace footprint
