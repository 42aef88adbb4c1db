// The C library's malloc is the next one of this program.

#include "footprint/profiling/malloc/next_allocator.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

// Blocks that were allocated during the search, as the loader may do in dlsym.
std::vector<void*>* early_blocks = nullptr;

}  // namespace

// Replaces the C library's dlsym.
extern "C" void* dlsym(void* handle, const char* name) {
  using footprint::profiling_internal::next_allocator;
  static auto* const next = reinterpret_cast<void* (*)(void*, const char*)>(
      dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  if (early_blocks != nullptr) {
    void* const block = next_allocator.malloc(100);
    early_blocks->push_back(next_allocator.realloc(block, 200));
    early_blocks->push_back(next_allocator.calloc(3, 50));
  }
  return next(handle, name);
}

namespace footprint::profiling_internal {
namespace {

// A process searches once, so all tests share the search.
class NextAllocatorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static std::vector<void*> blocks;
    blocks.reserve(1000);
    early_blocks = &blocks;
    void* const first = next_allocator.malloc(10);
    early_blocks = nullptr;
    early_ = &blocks;
    next_allocator.free(first);
  }

  static std::vector<void*>* early_;
};
std::vector<void*>* NextAllocatorTest::early_ = nullptr;

TEST_F(NextAllocatorTest, IsTheCLibrarys) {
  char name[64];
  WriteNextAllocatorName(name, sizeof(name));
  // If a sanitizer is used, this program's own malloc comes first.
  EXPECT_THAT(name, ::testing::AnyOf(::testing::StartsWith("glibc 2."),
                                     ::testing::StartsWith("private in ")));
  EXPECT_TRUE(next_allocator.is_c_library);
  EXPECT_TRUE(next_allocator.can_be_counted);
  EXPECT_TRUE(next_allocator.has_glibc_headers);
}

TEST_F(NextAllocatorTest, ANameIsCutWhereItsRoomEnds) {
  char name[4] = "xyz";
  WriteNextAllocatorName(name, sizeof(name));
  EXPECT_EQ(strlen(name), 3u);
}

TEST_F(NextAllocatorTest, SizesAreThoseOfMallocUsableSize) {
  RandomSequence random(/*seed=*/1);
  std::vector<void*> blocks;
  for (int i = 0; i < 2000; ++i) {
    const size_t size = random.Below(uint64_t{1} << random.Below(22));
    void* block =
        random.Below(4) == 0
            ? next_allocator.memalign(uint64_t{16} << random.Below(9), size)
            : next_allocator.malloc(size);
    if (random.Below(4) == 0) {
      block = next_allocator.realloc(block, size + random.Below(100000));
    }
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(UsableSize(block), malloc_usable_size(block));
    blocks.push_back(block);
    if (random.Below(2) == 0) {
      std::swap(blocks[random.Below(blocks.size())], blocks.back());
      next_allocator.free(blocks.back());
      blocks.pop_back();
    }
  }
  for (void* block : blocks) next_allocator.free(block);
}

TEST_F(NextAllocatorTest, OnlyBlocksWithPagesOfTheirOwnMoveWithoutACopy) {
  void* const small = next_allocator.malloc(100);
  void* const large = next_allocator.malloc(64 << 20);
  EXPECT_FALSE(MayMoveWithoutCopy(small));
  EXPECT_TRUE(MayMoveWithoutCopy(large));
  next_allocator.free(small);
  next_allocator.free(large);
}

TEST_F(NextAllocatorTest, EachFunctionIsTheLibrarys) {
  EXPECT_EQ(reinterpret_cast<void*>(next_allocator.calloc),
            dlsym(RTLD_NEXT, "calloc"));
  void* block = nullptr;
  ASSERT_EQ(next_allocator.posix_memalign(&block, 4096, 10), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 4096, 0u);
  next_allocator.free(block);
  block = next_allocator.valloc(10);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 4096, 0u);
  next_allocator.free(block);
}

// Blocks that were allocated during the search can be used like others.
TEST_F(NextAllocatorTest, EarlyBlocksMayBeUsedMovedAndFreedLater) {
  ASSERT_GE(early_->size(), 20u);
  for (size_t i = 0; i < early_->size(); ++i) {
    char* block = static_cast<char*>((*early_)[i]);
    ASSERT_NE(block, nullptr);
    EXPECT_GE(UsableSize(block), i % 2 == 0 ? 200u : 150u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0u);
    for (size_t byte = 0; byte < 150; ++byte) EXPECT_EQ(block[byte], 0);
    memset(block, static_cast<int>(i + 1), UsableSize(block));
  }
  for (size_t i = 0; i < early_->size(); ++i) {
    char* block = static_cast<char*>((*early_)[i]);
    // No other block has overwritten it.
    EXPECT_EQ(block[0], static_cast<char>(i + 1));
    EXPECT_EQ(block[149], static_cast<char>(i + 1));
    if (i % 3 == 0) {
      block = static_cast<char*>(next_allocator.realloc(block, 5000));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(block[0], static_cast<char>(i + 1));
      EXPECT_EQ(block[149], static_cast<char>(i + 1));
    }
    next_allocator.free(block);
  }
}

}  // namespace
}  // namespace footprint::profiling_internal
