#include "footprint/profiling/process_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// Static data of a known size, so that a part of the image is known.
char static_data[1 << 20];

TEST(ProcessMemoryTest, TheImageHoldsCodeAndStaticData) {
  static_data[0] = 1;
  EXPECT_GT(LoadedImageBytes(), int64_t{sizeof(static_data)});
  EXPECT_EQ(LoadedImageBytes() % sysconf(_SC_PAGESIZE), 0);
  EXPECT_EQ(LoadedImageBytes(), LoadedImageBytes());
}

TEST(ProcessMemoryTest, TouchedPagesAreResident) {
  constexpr size_t kSize = 64 << 20;
  const ResidentBytes before = ReadResidentBytes();
  void* block = std::malloc(kSize);
  std::memset(block, 1, kSize);
  asm volatile("" : : "r"(block) : "memory");
  const ResidentBytes after = ReadResidentBytes();
  std::free(block);
  EXPECT_GE(after.anonymous_bytes - before.anonymous_bytes,
            int64_t{kSize} * 9 / 10);
  EXPECT_GE(after.peak_bytes, int64_t{kSize});
  EXPECT_GT(after.file_bytes, 0);
}

TEST(ProcessMemoryTest, AllocatorKnowsWhatIsActive) {
  const AllocatorBytes before = ReadAllocatorBytes();
  void* block = std::malloc(8 << 20);
  asm volatile("" : : "r"(block) : "memory");
  const AllocatorBytes after = ReadAllocatorBytes();
  std::free(block);
  EXPECT_GE(after.active_bytes - before.active_bytes, 8 << 20);
  EXPECT_GE(after.fragmentation_bytes(), 0);
  EXPECT_GE(after.mapped_bytes, after.active_bytes);
}

TEST(ProcessMemoryTest, SeesAChildThatWasNotMadeByFork) {
  EXPECT_FALSE(HasHadChildProcess());
  // The C library's system() makes its child without fork.
  ASSERT_EQ(std::system("true"), 0);
  EXPECT_TRUE(HasHadChildProcess());
}

}  // namespace
}  // namespace footprint
