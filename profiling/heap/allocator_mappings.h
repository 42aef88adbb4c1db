// Told of each address range that the allocator takes from the kernel and
// gives back, if whoever links has a use for it (published_allocator.h).
//
//   if (AllocatorMapped != nullptr) AllocatorMapped(begin, size_bytes);
//
// Weak: null where nobody has. Called inside the allocator, so they must not
// allocate; thread-safe. Addresses are told as numbers: the range stays the
// allocator's, and lives until AllocatorUnmapped.

#ifndef FOOTPRINT_PROFILING_HEAP_ALLOCATOR_MAPPINGS_H_
#define FOOTPRINT_PROFILING_HEAP_ALLOCATOR_MAPPINGS_H_

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

__attribute__((weak)) void AllocatorMapped(uintptr_t begin, size_t size_bytes);
__attribute__((weak)) void AllocatorUnmapped(uintptr_t begin,
                                             size_t size_bytes);

}  // namespace footprint::profiling_internal

// Tested by published_allocator_test.

#endif  // FOOTPRINT_PROFILING_HEAP_ALLOCATOR_MAPPINGS_H_
