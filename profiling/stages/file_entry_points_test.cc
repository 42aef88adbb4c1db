// Opens and closes with file_entry_points.cc in front of the C library.

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "gtest/gtest.h"

// Declared as <fcntl.h> declares them when it checks arguments.
extern "C" {
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);

// Replaces the C library's dlsym and counts the calls.
void* __real_dlsym(void* object, const char* name);
int asked_count = 0;
void* __wrap_dlsym(void* object, const char* name) {
  ++asked_count;
  return __real_dlsym(object, name);
}
}

namespace footprint {
namespace {

constexpr char kPath[] = "/dev/null";

// In the child of a fork, and in a signal handler, dlsym may never return.
TEST(FileEntryPointsTest, LooksForNoFunctionOnceMainHasBegun) {
  const int before = asked_count;
  EXPECT_GE(before, 14);
  for (const int file :
       {open(kPath, O_RDONLY), open64(kPath, O_RDONLY),
        openat(AT_FDCWD, kPath, O_RDONLY), openat64(AT_FDCWD, kPath, O_RDONLY),
        __open_2(kPath, O_RDONLY), __open64_2(kPath, O_RDONLY),
        __openat_2(AT_FDCWD, kPath, O_RDONLY),
        __openat64_2(AT_FDCWD, kPath, O_RDONLY), creat(kPath, 0600),
        creat64(kPath, 0600)}) {
    EXPECT_GE(file, 0);
    EXPECT_EQ(close(file), 0);
  }
  for (FILE* const stream : {fopen(kPath, "r"), fopen64(kPath, "r")}) {
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(fclose(stream), 0);
  }
  EXPECT_EQ(asked_count, before);
}

}  // namespace
}  // namespace footprint
