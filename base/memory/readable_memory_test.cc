#include "footprint/base/memory/readable_memory.h"

#include <sys/mman.h>

#include "gtest/gtest.h"

namespace footprint {
namespace {

uintptr_t ToAddress(const void* place) {
  return reinterpret_cast<uintptr_t>(place);
}

TEST(ReadableMemoryTest, CopiesWhatCanBeRead) {
  const char text[] = "frame";
  char copy[sizeof(text)] = {};
  ASSERT_TRUE(CopyIfReadable(ToAddress(text), copy, sizeof(copy)));
  EXPECT_STREQ(copy, "frame");
}

TEST(ReadableMemoryTest, CopiesNothingOfWhatCannotBeRead) {
  constexpr size_t kPageBytes = 4096;
  void* const pages = mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const uintptr_t second = ToAddress(pages) + kPageBytes;
  ASSERT_EQ(munmap(reinterpret_cast<void*>(second), kPageBytes), 0);
  char copy[16];
  EXPECT_FALSE(CopyIfReadable(second, copy, sizeof(copy)));
  // Only half of it can be read.
  EXPECT_FALSE(CopyIfReadable(second - 8, copy, sizeof(copy)));
  EXPECT_TRUE(CopyIfReadable(second - sizeof(copy), copy, sizeof(copy)));
  munmap(pages, kPageBytes);
}

}  // namespace
}  // namespace footprint
