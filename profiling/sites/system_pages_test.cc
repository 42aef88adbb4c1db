#include "footprint/profiling/sites/system_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr size_t kBytes = 3 * 4096;

bool IsMapped(void* pages) {
  return msync(pages, 1, MS_ASYNC) == 0 || errno != ENOMEM;
}

TEST(SystemPagesTest, AreZeroAndCanBeWritten) {
  auto* const pages = static_cast<char*>(TakePages(kBytes));
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pages) % getpagesize(), 0u);
  EXPECT_TRUE(std::all_of(pages, pages + kBytes,
                          [](char value) { return value == 0; }));
  std::fill_n(pages, kBytes, 'x');
  EXPECT_EQ(pages[kBytes - 1], 'x');
  GivePagesBack(pages, kBytes);
}

TEST(SystemPagesTest, AreTheSystemsAgainWhenGivenBack) {
  void* const pages = TakePages(kBytes);
  ASSERT_NE(pages, nullptr);
  EXPECT_TRUE(IsMapped(pages));
  GivePagesBack(pages, kBytes);
  EXPECT_FALSE(IsMapped(pages));
}

TEST(SystemPagesTest, AreNullWhereTheKernelHasNone) {
  EXPECT_EQ(TakePages(size_t{1} << 60), nullptr);
  GivePagesBack(nullptr, kBytes);
}

}  // namespace
}  // namespace footprint::profiling_internal
