#include "footprint/base/memory/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(MappedMemoryTest, KnowsWhatIsThere) {
  const std::vector<char> heap(100);
  EXPECT_TRUE(IsMapped(heap.data(), 100));
  const char local = 0;
  EXPECT_TRUE(IsMapped(&local, 1));
}

TEST(MappedMemoryTest, NoticesOneMissingPage) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t pages = 3000;  // more than one call asks for
  char* const data =
      static_cast<char*>(mmap(nullptr, static_cast<size_t>(pages * page),
                              PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(data, MAP_FAILED);
  EXPECT_TRUE(IsMapped(data, pages * page));
  for (const int64_t missing : {int64_t{0}, int64_t{2000}, pages - 1}) {
    char* const gone = data + missing * page;
    ASSERT_EQ(munmap(gone, static_cast<size_t>(page)), 0);
    EXPECT_FALSE(IsMapped(data, pages * page)) << missing;
    EXPECT_FALSE(IsMapped(gone + 17, 1));
    ASSERT_EQ(mmap(gone, static_cast<size_t>(page), PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              gone);
  }
  // The last byte of a page does not need the next page.
  ASSERT_EQ(munmap(data + page, static_cast<size_t>(page)), 0);
  EXPECT_TRUE(IsMapped(data + 1, page - 1));
  EXPECT_FALSE(IsMapped(data + 1, page));
  munmap(data, static_cast<size_t>(pages * page));
}

TEST(MappedMemoryTest, CountsThePagesThatWereTouched) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t pages = 3000;
  char* const data = static_cast<char*>(
      mmap(nullptr, static_cast<size_t>(pages * page), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(data, MAP_FAILED);
  madvise(data, static_cast<size_t>(pages * page), MADV_NOHUGEPAGE);
  EXPECT_EQ(PresentBytes(data, pages * page), 0);
  for (const int64_t touched : {int64_t{0}, int64_t{1500}, pages - 1}) {
    data[touched * page + 17] = 1;
  }
  EXPECT_EQ(PresentBytes(data, pages * page), 3 * page);
  EXPECT_EQ(PresentBytes(data + 17, 1), page);
  munmap(data, static_cast<size_t>(pages * page));
  EXPECT_EQ(PresentBytes(data, page), 0);
}

}  // namespace
}  // namespace footprint
