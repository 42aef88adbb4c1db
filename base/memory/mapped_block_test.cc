#include "footprint/base/memory/mapped_block.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "footprint/base/memory/mapped_memory.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(MappedBlockTest, HasWholePagesThatAreCountedAsTheyAreTouched) {
  auto arena = MappedBlock::Allocate(2000 * 4096 - 100);
  ASSERT_THAT(arena, IsOk());
  EXPECT_EQ(arena->size_bytes(), 2000 * 4096);
  EXPECT_EQ(arena->At<char>(4096) - arena->At<char>(0), 4096);
  std::memset(arena->At<char>(0), 1, arena->size_bytes());
  EXPECT_EQ(PresentBytes(arena->At<char>(0), arena->size_bytes()),
            arena->size_bytes());
  const MappedBlock moved = *std::move(arena);
  EXPECT_EQ(*moved.At<char>(5), 1);
}

TEST(MappedBlockDeathTest, EndsAProgramThatGoesBeyondIt) {
  const auto arena = MappedBlock::Allocate(4096);
  ASSERT_THAT(arena, IsOk());
  EXPECT_DEATH(*arena->At<volatile char>(4096) = 1, "");
}

TEST(MappedBlockTest, IsZeroWithHugePagesToo) {
  const auto block = MappedBlock::AllocateHuge(5 << 20);
  ASSERT_THAT(block, IsOk());
  EXPECT_EQ(block->size_bytes(), 5 << 20);
  EXPECT_EQ(*block->At<char>((5 << 20) - 1), 0);
}

TEST(MappedBlockTest, RefusesSizesThatNoSystemHas) {
  for (const int64_t bytes : {int64_t{1} << 60, int64_t{-1}, INT64_MIN,
                              INT64_MAX, INT64_MAX - 4096}) {
    EXPECT_THAT(MappedBlock::Allocate(bytes),
                StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_THAT(MappedBlock::AllocateHuge(bytes),
                StatusIs(absl::StatusCode::kResourceExhausted));
  }
}

// The kernel lists what it was asked for: "hg" is for huge pages.
TEST(MappedBlockTest, AsksForHugePages) {
  const auto block = MappedBlock::AllocateHuge(5 << 20);
  ASSERT_THAT(block, IsOk());
  std::ifstream maps("/proc/self/smaps");
  const auto place = reinterpret_cast<uint64_t>(block->At<char>(0));
  bool is_in_block = false;
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin, end;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " ", &begin, &end) ==
        2) {
      is_in_block = begin <= place && place < end;
    }
    if (!is_in_block || line.rfind("VmFlags:", 0) != 0) continue;
    EXPECT_THAT(line, testing::HasSubstr(" hg"));
    return;
  }
  FAIL() << "no flags of the block";
}

TEST(MappedBlockTest, SaysWhenThereIsNoMemory) {
  EXPECT_THAT(MappedBlock::Allocate(int64_t{1} << 60),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace footprint
