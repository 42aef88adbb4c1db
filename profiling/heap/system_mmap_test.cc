#include "footprint/profiling/heap/system_mmap.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr size_t kBytes = 8192;

// Leaves bytes that are not zero on the stack, where an argument that is too
// narrow would be completed by them.
[[gnu::noinline]] void DirtyStack() {
  volatile char bytes[4096];
  for (volatile char& byte : bytes) byte = 0x5a;
}

TEST(SystemMmapTest, MapsFromTheBeginningOfAFile) {
  const int file = memfd_create("system_mmap_test", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(write(file, "begin", 5), 5);
  DirtyStack();
  void* const mapped =
      SystemMmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(std::memcmp(mapped, "begin", 5), 0);
  EXPECT_EQ(munmap(mapped, kBytes), 0);
  close(file);
}

TEST(SystemMmapTest, MapsAnonymousPages) {
  DirtyStack();
  void* const mapped = SystemMmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  static_cast<char*>(mapped)[kBytes - 1] = 1;
  EXPECT_EQ(munmap(mapped, kBytes), 0);
}

TEST(SystemMmapTest, AFailureIsMmaps) {
  EXPECT_EQ(
      SystemMmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      MAP_FAILED);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace footprint::profiling_internal
