// How many pages of address space this process has mapped, for tests that
// everything which was mapped is given back.
//
//   const int64_t before = footprint::MappedPages();
//   MapAndUnmap();
//   EXPECT_EQ(footprint::MappedPages(), before);
//
// The kernel's own figure, /proc/self/statm; -1 where it cannot be read. It
// allocates nothing, so it changes nothing of what it counts, and owns nothing
// when it returns. Threads may call it at once; what another thread maps
// meanwhile counts. Memory: 64 bytes of stack. Time: one read, microseconds.

#ifndef FOOTPRINT_BASE_TESTING_MAPPED_PAGES_H_
#define FOOTPRINT_BASE_TESTING_MAPPED_PAGES_H_

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace footprint {

inline int64_t MappedPages() {
  char text[64] = "";
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  return length > 0 ? std::strtoll(text, nullptr, 10) : -1;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TESTING_MAPPED_PAGES_H_
