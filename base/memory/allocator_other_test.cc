// Tests of allocator.h's promises with another allocator than jemalloc.

#include <cstring>

#include "footprint/base/memory/allocator.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(AllocatorOtherTest, AnswersThatItCannotKnow) {
  char name[64];
  WriteAllocatorName(name, sizeof(name));
  EXPECT_FALSE(IsJemalloc());
  EXPECT_STREQ(name, "unknown");
  EXPECT_EQ(ReadThreadHeapBytes().allocated_bytes, 0u);
  EXPECT_EQ(ReadThreadHeapBytes().live_bytes(), 0);
  EXPECT_EQ(FindThreadHeapCounters().allocated_bytes, nullptr);
  EXPECT_FALSE(PurgeFreeMemory());
}

}  // namespace
}  // namespace footprint
