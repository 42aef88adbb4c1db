#include "footprint/base/memory/memory_block.h"

#include <malloc.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(MemoryBlockTest, IsZeroAlignedAndAsLargeAsAsked) {
  for (const int64_t size : {1, 63, 4096, (1 << 20) - 1, 1 << 20, 3000001}) {
    const auto block = MemoryBlock::Allocate(size);
    ASSERT_THAT(block, IsOk());
    EXPECT_EQ(block->size_bytes(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % kLineBytes, 0u);
    for (int64_t i = 0; i < size; i += 61) ASSERT_EQ(block->data()[i], 0);
    block->data()[size - 1] = 1;
  }
}

TEST(MemoryBlockTest, RecordsLieBehindTheBytesUnlessTheyNeedAPage) {
  struct Case {
    int64_t size_bytes;
    int64_t record_bytes;
    bool is_apart;
  };
  for (const Case& c :
       {Case{0, 1, false}, Case{1, 700, false}, Case{100, 10000, false},
        Case{104, 8, false}, Case{32000, 700, false}, Case{32000, 10000, false},
        // These take nine pages, with eight bytes left over.
        Case{36856, 8, false}, Case{36856, 700, true}, Case{36856, 10000, true},
        Case{40000, 960, false}, Case{40000, 961, true}}) {
    MemoryBlock allocated =
        *MemoryBlock::Allocate(c.size_bytes, c.record_bytes);
    const MemoryBlock block = std::move(allocated);
    EXPECT_EQ(block.size_bytes(), c.size_bytes);
    EXPECT_EQ(block.records() < block.data() + c.size_bytes ||
                  block.records() >= block.data() + c.size_bytes + 8,
              c.is_apart)
        << c.size_bytes << " " << c.record_bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.records()) % 8, 0u);
    for (int64_t i = 0; i < c.record_bytes; ++i) {
      ASSERT_EQ(block.records()[i], 0);
      block.records()[i] = 1;
    }
    for (int64_t i = 0; i < c.size_bytes; ++i) ASSERT_EQ(block.data()[i], 0);
  }
  EXPECT_EQ(MemoryBlock::Allocate(100)->records(), nullptr);
}

TEST(MemoryBlockTest, FreesRecordsThatLieApart) {
  constexpr int64_t kRecordBytes = 10000;
  const size_t before = mallinfo2().uordblks;
  size_t during = 0;
  for (int i = 0; i < 10; ++i) {
    const auto block = MemoryBlock::Allocate(36856, kRecordBytes);
    ASSERT_THAT(block, IsOk());
    during = mallinfo2().uordblks;
  }
  EXPECT_GE(during, before + kRecordBytes);
  EXPECT_LT(mallinfo2().uordblks, before + kRecordBytes);
}

TEST(MemoryBlockTest, MovesItsBytes) {
  MemoryBlock block = *MemoryBlock::Allocate(100);
  char* const data = block.data();
  MemoryBlock moved = std::move(block);
  EXPECT_EQ(moved.data(), data);
  MemoryBlock assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), data);
  EXPECT_EQ(assigned.size_bytes(), 100);
}

// One block is on the heap and the other is mapped; each must be freed as it
// was allocated.
TEST(MemoryBlockTest, AssignedBlocksAreFreedAsTheyWereAllocated) {
  constexpr int64_t kMappedBytes = 3000001;
  for (int i = 0; i < 2; ++i) {
    MemoryBlock small = *MemoryBlock::Allocate(100);
    MemoryBlock large = *MemoryBlock::Allocate(kMappedBytes);
    if (i == 0) {
      small = std::move(large);
      EXPECT_EQ(small.size_bytes(), kMappedBytes);
    } else {
      large = std::move(small);
      EXPECT_EQ(large.size_bytes(), 100);
    }
  }
}

TEST(MemoryBlockTest, SaysWhatItCannotHave) {
  EXPECT_EQ(MemoryBlock::Allocate(0)->data(), nullptr);
  EXPECT_THAT(MemoryBlock::Allocate(-1),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MemoryBlock::Allocate(1, -1),
              StatusIs(absl::StatusCode::kInvalidArgument));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t records : {int64_t{0}, int64_t{1}, kMost}) {
    EXPECT_THAT(MemoryBlock::Allocate(kMost, records),
                StatusIs(absl::StatusCode::kResourceExhausted));
  }
  EXPECT_THAT(MemoryBlock::Allocate(0, kMost),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       testing::HasSubstr(
                           absl::StrCat("0 bytes with records of ", kMost))));
}

}  // namespace
}  // namespace footprint
