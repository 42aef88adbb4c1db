// Reads from a file at a place of it, again after interrupts and short reads.
//
//   const int64_t got = lowmem_internal::ReadAt(file, 0, 8, &length);
//   if (got < 0) return Error(errno);
//   if (got < 8) return EndsBefore(got);
//
// Thread-safe. Memory: none.

#ifndef FOOTPRINT_BASE_FILES_READ_AT_H_
#define FOOTPRINT_BASE_FILES_READ_AT_H_

#include <cstdint>

namespace footprint::lowmem_internal {

// The bytes read: fewer than `size_bytes` only where the file ends. -1: the
// system refused, and errno says why.
int64_t ReadAt(int descriptor, int64_t offset_bytes, int64_t size_bytes,
               void* destination);

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_BASE_FILES_READ_AT_H_
