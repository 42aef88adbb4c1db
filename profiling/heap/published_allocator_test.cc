// In front of the counted jemalloc, whose mappings it is told of.

#include "footprint/profiling/heap/published_allocator.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "footprint/profiling/heap/allocator_mappings.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr size_t kLargeBytes = size_t{64} << 20;

class PublishedAllocatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const pages =
        mmap(nullptr, sizeof(PublishedAllocator), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    published_ = static_cast<PublishedAllocator*>(pages);
    PublishAllocator(published_);
  }
  void TearDown() override {
    PublishAllocator(nullptr);
    munmap(published_, sizeof(PublishedAllocator));
  }

  bool IsInARange(const void* block) const {
    const auto address = reinterpret_cast<uintptr_t>(block);
    for (uint32_t i = 0; i < published_->range_count; ++i) {
      if (published_->ranges[i].begin <= address &&
          address < published_->ranges[i].end) {
        return true;
      }
    }
    return false;
  }

  PublishedAllocator* published_ = nullptr;
};

TEST_F(PublishedAllocatorTest, HasTheRangesOfWhatIsAllocated) {
  EXPECT_EQ(published_->magic, kAllocatorMagic);
  void* const small = malloc(100);
  EXPECT_TRUE(IsInARange(small));
  free(small);
  auto* const large = static_cast<char*>(malloc(kLargeBytes));
  EXPECT_TRUE(IsInARange(large));
  EXPECT_TRUE(IsInARange(large + kLargeBytes - 1));
  // Memory that the program maps by itself is none of the allocator's.
  EXPECT_FALSE(IsInARange(published_));
  free(large);
}

TEST_F(PublishedAllocatorTest, AReaderFindsItWhole) {
  const uint32_t before = published_->generation.load();
  EXPECT_EQ(before % 2, 0u);
  free(malloc(kLargeBytes));
  EXPECT_EQ(published_->generation.load() % 2, 0u);
  EXPECT_EQ(published_->is_cut, 0u);
}

TEST_F(PublishedAllocatorTest, TheBooksAreReadWhenMoreIsLive) {
  ReadAllocatorBooks(int64_t{1} << 40, /*now_ns=*/7);
  EXPECT_EQ(published_->books.time_ns, 7);
  EXPECT_EQ(published_->books.live_bytes, int64_t{1} << 40);
  EXPECT_GT(published_->books.allocated_bytes, 0);
  EXPECT_GE(published_->books.active_bytes, published_->books.allocated_bytes);
  EXPECT_GT(published_->books.metadata_bytes, 0);
  // No fiftieth more.
  ReadAllocatorBooks((int64_t{1} << 40) + 1, /*now_ns=*/8);
  EXPECT_EQ(published_->books.time_ns, 7);
  ReadAllocatorBooks(int64_t{1} << 41, /*now_ns=*/9);
  EXPECT_EQ(published_->books.time_ns, 9);
}

TEST_F(PublishedAllocatorTest, TheAgentsRangesComeAndGo) {
  const auto has = [this](uint64_t begin, uint64_t end) {
    for (const PublishedAllocator::AgentRange& each :
         published_->agent_ranges) {
      if (each.begin == begin && each.end == end) return true;
    }
    return false;
  };
  AgentMapped(0x1000, 0x3000);
  AgentMapped(0x8000, 0x1000);
  EXPECT_TRUE(has(0x1000, 0x4000));
  EXPECT_TRUE(has(0x8000, 0x9000));
  AgentUnmapped(0x1000);
  EXPECT_FALSE(has(0x1000, 0x4000));
  // The child of a fork publishes elsewhere, and has its parent's tables.
  PublishAllocator(nullptr);
  AgentMapped(0x10000, 0x1000);
  PublishAllocator(published_);
  EXPECT_TRUE(has(0x8000, 0x9000));
  EXPECT_TRUE(has(0x10000, 0x11000));
  AgentUnmapped(0x8000);
  AgentUnmapped(0x10000);
  EXPECT_FALSE(has(0x8000, 0x9000));
}

TEST_F(PublishedAllocatorTest, NobodyReadsAfterNull) {
  PublishAllocator(nullptr);
  const uint32_t generation = published_->generation.load();
  free(malloc(2 * kLargeBytes));
  ReadAllocatorBooks(int64_t{1} << 50, /*now_ns=*/7);
  EXPECT_EQ(published_->generation.load(), generation);
  EXPECT_EQ(published_->books.time_ns, 0);
}

}  // namespace
}  // namespace footprint::profiling_internal
