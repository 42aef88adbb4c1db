// Maps memory by the system call itself, because mmap's entry point counts what
// the program maps.
//
//   void* const pages = SystemMmap(nullptr, 4096, PROT_READ | PROT_WRITE,
//                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
//   if (pages == MAP_FAILED) return nullptr;
//
// The caller owns the mapping and unmaps it by SYS_munmap. Thread-safe, and
// works inside malloc. On failure the result is MAP_FAILED and errno is mmap's.

#ifndef FOOTPRINT_PROFILING_HEAP_SYSTEM_MMAP_H_
#define FOOTPRINT_PROFILING_HEAP_SYSTEM_MMAP_H_

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace footprint::profiling_internal {

// syscall() reads its arguments as longs. The upper half of an int, such as a
// literal 0 for the offset, would be undefined.
inline void* SystemMmap(void* address, size_t size_bytes, int protection,
                        int flags, int file, off_t offset_bytes) {
  static_assert(sizeof(off_t) == sizeof(long), "syscall() reads longs");
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, size_bytes, static_cast<long>(protection),
              static_cast<long>(flags), static_cast<long>(file), offset_bytes));
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_SYSTEM_MMAP_H_
