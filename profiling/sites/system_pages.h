// Pages from the kernel, for code behind malloc: not counted, never returned
// to the heap.
//
//   auto* table = static_cast<Entry*>(TakePages(count * sizeof(Entry)));
//
// The caller owns them until GivePagesBack, or the end of the process.
// Thread-safe.

#ifndef FOOTPRINT_PROFILING_SITES_SYSTEM_PAGES_H_
#define FOOTPRINT_PROFILING_SITES_SYSTEM_PAGES_H_

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace footprint::profiling_internal {

// Zeroed; null where the kernel has none.
inline void* TakePages(size_t size_bytes) {
  // Not by mmap, whose entry point counts what the program maps.
  void* const pages = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, size_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return pages == MAP_FAILED ? nullptr : pages;
}

inline void GivePagesBack(void* pages, size_t size_bytes) {
  if (pages != nullptr) syscall(SYS_munmap, pages, size_bytes);
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_SYSTEM_PAGES_H_
