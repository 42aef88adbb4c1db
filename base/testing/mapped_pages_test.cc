#include "footprint/base/testing/mapped_pages.h"

#include <sys/mman.h>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(MappedPagesTest, CountsWhatIsMapped) {
  const size_t page_bytes = static_cast<size_t>(getpagesize());
  const int64_t before = MappedPages();
  ASSERT_GT(before, 0);
  void* const mapped = mmap(nullptr, 7 * page_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const int64_t with_mapping = MappedPages();
  ASSERT_EQ(munmap(mapped, 7 * page_bytes), 0);
  const int64_t after = MappedPages();
  EXPECT_EQ(with_mapping, before + 7);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace footprint
