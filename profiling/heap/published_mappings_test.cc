// Runs with mmap's entry points in front of the kernel.

#include "footprint/profiling/heap/published_mappings.h"

#include <sys/mman.h>

#include <cstdint>
#include <vector>

#include "footprint/profiling/heap/mapping_hooks.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr size_t kPageBytes = 4096;

void* Map(size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

class PublishedMappingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const pages = Map(sizeof(PublishedMappings));
    ASSERT_NE(pages, MAP_FAILED);
    published_ = static_cast<PublishedMappings*>(pages);
    PublishMappings(published_);
    ReportProgramMappings();
  }
  void TearDown() override {
    PublishMappings(nullptr);
    munmap(published_, sizeof(PublishedMappings));
  }

  bool IsInARange(const void* place) const {
    const auto address = reinterpret_cast<uintptr_t>(place);
    for (uint32_t i = 0; i < published_->range_count; ++i) {
      if (published_->ranges[i].begin <= address &&
          address < published_->ranges[i].end) {
        return true;
      }
    }
    return false;
  }

  PublishedMappings* published_ = nullptr;
};

TEST_F(PublishedMappingsTest, HasWhatTheProgramMapped) {
  EXPECT_EQ(published_->magic, kMappingsMagic);
  // The page was mapped before anybody read.
  EXPECT_TRUE(IsInARange(published_));
  auto* const pages = static_cast<char*>(Map(3 * kPageBytes));
  EXPECT_TRUE(IsInARange(pages));
  EXPECT_TRUE(IsInARange(pages + 3 * kPageBytes - 1));
  munmap(pages + kPageBytes, kPageBytes);
  EXPECT_TRUE(IsInARange(pages));
  EXPECT_FALSE(IsInARange(pages + kPageBytes));
  EXPECT_TRUE(IsInARange(pages + 2 * kPageBytes));
  munmap(pages, 3 * kPageBytes);
  EXPECT_FALSE(IsInARange(pages));
}

TEST_F(PublishedMappingsTest, AReaderFindsItWhole) {
  const uint32_t before = published_->generation.load();
  EXPECT_EQ(before % 2, 0u);
  munmap(Map(kPageBytes), kPageBytes);
  EXPECT_GT(published_->generation.load(), before);
  EXPECT_EQ(published_->generation.load() % 2, 0u);
  EXPECT_EQ(published_->is_cut, 0u);
}

// Pages without access cost nothing; every other one is unmapped.
TEST_F(PublishedMappingsTest, MoreRangesThanHaveRoomAreCut) {
  constexpr size_t kPages = 2 * (kMaxProgramRanges + 10);
  auto* const pages = static_cast<char*>(
      mmap(nullptr, kPages * kPageBytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  for (size_t i = 1; i < kPages; i += 2) {
    ASSERT_EQ(munmap(pages + i * kPageBytes, kPageBytes), 0);
  }
  EXPECT_EQ(published_->is_cut, 1u);
  EXPECT_EQ(published_->range_count, kMaxProgramRanges);
  munmap(pages, kPages * kPageBytes);
  EXPECT_EQ(published_->is_cut, 0u);
}

TEST_F(PublishedMappingsTest, LiveBytesAreThoseToldLast) {
  EXPECT_EQ(published_->live_bytes.load(), 0);
  PublishLiveBytes(int64_t{1} << 40);
  PublishLiveBytes(123);
  EXPECT_EQ(published_->live_bytes.load(), 123);
}

TEST_F(PublishedMappingsTest, TheAgentsRangesComeAndGo) {
  const auto has = [this](uint64_t begin, uint64_t end) {
    for (const PublishedMappings::AgentRange& each : published_->agent_ranges) {
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
  // As in the child of a fork, which publishes elsewhere and keeps its parent's
  // tables.
  PublishMappings(nullptr);
  AgentMapped(0x10000, 0x1000);
  PublishMappings(published_);
  EXPECT_TRUE(has(0x8000, 0x9000));
  EXPECT_TRUE(has(0x10000, 0x11000));
  AgentUnmapped(0x8000);
  AgentUnmapped(0x10000);
  EXPECT_FALSE(has(0x8000, 0x9000));
}

TEST_F(PublishedMappingsTest, NobodyReadsAfterNull) {
  PublishMappings(nullptr);
  const uint32_t generation = published_->generation.load();
  munmap(Map(kPageBytes), kPageBytes);
  PublishLiveBytes(7);
  EXPECT_EQ(published_->generation.load(), generation);
  EXPECT_EQ(published_->live_bytes.load(), 0);
}

}  // namespace
}  // namespace footprint::profiling_internal
