#include "footprint/profiling/stacks/readable_stack.h"

#include <sys/mman.h>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr uintptr_t kPageBytes = 4096;

class ReadableStackTest : public testing::Test {
 protected:
  ReadableStackTest()
      : begin_(reinterpret_cast<uintptr_t>(
            mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~ReadableStackTest() override {
    munmap(reinterpret_cast<void*>(begin_), kPages * kPageBytes);
  }

  void Protect(uintptr_t page) {
    ASSERT_EQ(mprotect(reinterpret_cast<void*>(begin_ + page * kPageBytes),
                       kPageBytes, PROT_NONE),
              0);
  }

  static constexpr uintptr_t kPages = 100;
  const uintptr_t begin_;
};

TEST_F(ReadableStackTest, EndsBelowAPageThatCannotBeRead) {
  for (const uintptr_t page : {40, 17, 16, 15, 1}) {
    Protect(page);
    EXPECT_EQ(ReadableStackEnd(begin_ + 8), begin_ + page * kPageBytes);
    EXPECT_EQ(ReadableStackEnd(begin_ + page * kPageBytes - 8),
              begin_ + page * kPageBytes);
  }
}

TEST_F(ReadableStackTest, IsNowhereInAPageThatCannotBeRead) {
  Protect(3);
  EXPECT_EQ(ReadableStackEnd(begin_ + 3 * kPageBytes), 0u);
  EXPECT_EQ(ReadableStackEnd(begin_ + 3 * kPageBytes + 100), 0u);
  EXPECT_EQ(ReadableStackEnd(0), 0u);
}

TEST_F(ReadableStackTest, LooksNoFartherThanItSays) {
  EXPECT_EQ(ReadableStackEnd(begin_ + 5000),
            begin_ + kPageBytes + (uintptr_t{256} << 10));
}

TEST(OwnStackTest, CanBeRead) {
  char local = 0;
  EXPECT_GT(ReadableStackEnd(reinterpret_cast<uintptr_t>(&local)),
            reinterpret_cast<uintptr_t>(&local));
}

}  // namespace
}  // namespace footprint::profiling_internal
