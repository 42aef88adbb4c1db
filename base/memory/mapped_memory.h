// Asks the system for the state of the pages that memory lies in.
//
//   if (!footprint::IsMapped(data, size_bytes)) return ReleasedError();
//
// Linux only. Pure but for asking the system; thread-safe; no heap memory.
// Time: a system call for each 4 MiB.

#ifndef FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_
#define FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_

#include <cstdint>

namespace footprint {

// Returns whether the system still has the bytes that a pointer names, at least
// one, for debugging of memory that its owner may have released. Memory that
// was given back to an allocator, which keeps it for the next request, is still
// there.
bool IsMapped(const void* data, int64_t size_bytes);

// The bytes of those of its pages that are in memory now; 0 where the system
// does not say.
int64_t PresentBytes(const void* data, int64_t size_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_
