#include "footprint/base/memory/byte_arena.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ByteArena, HasWholePagesThatAreCountedAsTheyAreTouched) {
  auto arena = ByteArena::Allocate(2000 * 4096 - 100);
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ(arena->size_bytes(), 2000 * 4096);
  EXPECT_EQ(arena->At<char>(4096) - arena->At<char>(0), 4096);
  std::memset(arena->At<char>(0), 1, arena->size_bytes());
  EXPECT_EQ(arena->ResidentBytes(), arena->size_bytes());
  const ByteArena moved = *std::move(arena);
  EXPECT_EQ(*moved.At<char>(5), 1);
}

TEST(ByteArenaDeathTest, EndsAProgramThatGoesBeyondIt) {
  const auto arena = ByteArena::Allocate(4096);
  ASSERT_TRUE(arena.ok());
  EXPECT_DEATH(*arena->At<volatile char>(4096) = 1, "");
}

TEST(ByteArena, SaysWhenThereIsNoMemory) {
  EXPECT_EQ(ByteArena::Allocate(int64_t{1} << 60).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace footprint
