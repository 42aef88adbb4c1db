#include "footprint/trainer_manager/memory_block.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(MemoryBlockTest, IsZeroAlignedAndAsLargeAsAsked) {
  for (const int64_t size : {1, 63, 4096, (1 << 20) - 1, 1 << 20, 3000001}) {
    const auto block = MemoryBlock::Allocate(size);
    ASSERT_TRUE(block.ok());
    EXPECT_EQ(block->size_bytes(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) %
                  MemoryBlock::kAlignmentBytes,
              0u);
    for (int64_t i = 0; i < size; i += 61) ASSERT_EQ(block->data()[i], 0);
    block->data()[size - 1] = 1;
  }
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

TEST(MemoryBlockTest, SaysWhatItCannotHave) {
  EXPECT_EQ(MemoryBlock::Allocate(0)->data(), nullptr);
  EXPECT_EQ(MemoryBlock::Allocate(-1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MemoryBlock::Allocate(std::numeric_limits<int64_t>::max())
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace footprint
