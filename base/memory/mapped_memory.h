// Asks the system for the state of the pages of a range of memory.
//
//   if (!footprint::IsMapped(data, size_bytes)) return ReleasedError();
//
// Linux only. Pure apart from asking the system; thread-safe; no heap memory.
// Time: a system call per 4 MiB.

#ifndef FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_
#define FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_

#include <cstdint>

namespace footprint {

// Returns whether all these bytes, at least one, are mapped. Use it to debug
// memory that its owner may have released. Memory that was freed to an
// allocator, which keeps it for the next request, is still mapped.
bool IsMapped(const void* data, int64_t size_bytes);

// Returns the bytes of the range's pages that are in memory now; 0 if the
// system does not report them.
int64_t PresentBytes(const void* data, int64_t size_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_MAPPED_MEMORY_H_
