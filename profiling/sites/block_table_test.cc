#include "footprint/profiling/sites/block_table.h"

#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "footprint/base/random/property_seeds.h"
#include "footprint/profiling/heap/mapping_hooks.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

size_t taken_bytes = 0;
std::map<uintptr_t, size_t> taken_sizes;

}  // namespace

// Counts the bytes that tables take from the kernel and give back.
void AgentMapped(uintptr_t begin, size_t size_bytes) {
  taken_sizes[begin] = size_bytes;
  taken_bytes += size_bytes;
}
void AgentUnmapped(uintptr_t begin) { taken_bytes -= taken_sizes[begin]; }

namespace {

const void* Address(uintptr_t address) {
  return reinterpret_cast<const void*>(address);
}

TEST(BlockTableTest, AnEmptyTableHoldsNothing) {
  BlockTable table;
  RecordedBlock block;
  EXPECT_FALSE(table.MayHold(Address(16)));
  EXPECT_FALSE(table.Remove(Address(16), &block));
}

TEST(BlockTableTest, GivesBackWhatWasAdded) {
  BlockTable table;
  ASSERT_TRUE(table.Add({4096, 100, 7, 3}));
  EXPECT_TRUE(table.MayHold(Address(4096)));
  RecordedBlock block;
  ASSERT_TRUE(table.Remove(Address(4096), &block));
  EXPECT_EQ(block.address, 4096u);
  EXPECT_EQ(block.size_bytes, 100);
  EXPECT_EQ(block.site, 7u);
  EXPECT_EQ(block.calls, 3u);
  EXPECT_FALSE(table.MayHold(Address(4096)));
}

// Adds and removes blocks for long while their number stays the same. Each time
// a table is rebuilt, it leaves the old array behind.
TEST(BlockTableTest, MemoryDependsOnLiveBlocksNotOnHowManyCameAndWent) {
  for (const size_t live : {size_t{100}, size_t{1000}, size_t{5000}}) {
    const size_t before_bytes = taken_bytes;
    std::mt19937 random(live);
    BlockTable table;
    std::vector<uintptr_t> addresses(live);
    for (size_t step = 0; step < 400 * live + 100000; ++step) {
      uintptr_t& address = addresses[random() % live];
      RecordedBlock block;
      if (address != 0) {
        ASSERT_TRUE(table.Remove(Address(address), &block));
      }
      address = 0x7f0000000000 + 16 * step;
      ASSERT_TRUE(table.Add({address, 1, 0, 0}));
    }
    EXPECT_LE(taken_bytes - before_bytes,
              std::max<size_t>(320 * live, 64 << 10))
        << live;
  }
}

// Compares with a map, for addresses that are reused as malloc reuses them.
TEST(BlockTableTest, BehavesAsAMap) {
  for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    std::mt19937 random(seed);
    BlockTable table;
    std::map<uintptr_t, int64_t> expected;
    const uintptr_t range = 1 + random() % 700;
    for (int step = 0; step < 1000; ++step) {
      const uintptr_t address = 16 * (1 + random() % range);
      RecordedBlock block;
      const auto found = expected.find(address);
      ASSERT_EQ(table.MayHold(Address(address)), found != expected.end())
          << "seed " << seed << " step " << step;
      if (found == expected.end()) {
        ASSERT_TRUE(table.Add({address, step, 0, 0}));
        expected[address] = step;
      } else {
        ASSERT_TRUE(table.Remove(Address(address), &block));
        ASSERT_EQ(block.size_bytes, found->second) << "seed " << seed;
        expected.erase(found);
      }
      ASSERT_EQ(table.size(), expected.size());
    }
  }
}

// A thread sees its own blocks while another makes the table grow.
TEST(BlockTableTest, IsReadWhileItGrows) {
  BlockTable table;
  ASSERT_TRUE(table.Add({16, 1, 0, 0}));
  std::atomic<bool> is_over{false};
  std::atomic<int> misses{0};
  std::thread reader([&] {
    while (!is_over.load()) {
      if (!table.MayHold(Address(16))) ++misses;
    }
  });
  for (uintptr_t i = 2; i < 100000; ++i)
    ASSERT_TRUE(table.Add({16 * i, 1, 0, 0}));
  is_over = true;
  reader.join();
  EXPECT_EQ(misses.load(), 0);
}

}  // namespace
}  // namespace footprint::profiling_internal
