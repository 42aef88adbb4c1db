// Whether the system still has what a pointer names, for debugging of memory
// that its owner may have released.
//
//   if (!footprint::IsMapped(data, size_bytes)) return ReleasedError();
//
// Memory that was given back to an allocator, which keeps it for the next
// request, is still there. Linux only. Pure but for asking the system;
// thread-safe; no heap memory. Time: a system call for each 4 MiB.

#ifndef FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_
#define FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_

#include <cstdint>

namespace footprint {

// Of at least one byte.
bool IsMapped(const void* data, int64_t size_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_
