// Optional hooks, called for each address range that the allocator, or the
// agent for its own tables, takes from the kernel or gives back
// (published_allocator.h defines them).
//
//   if (AllocatorMapped != nullptr) AllocatorMapped(begin, size_bytes);
//
// Weak: null where nobody defines them. Called inside the allocator, so they
// must not allocate; thread-safe. The agent's are called in signal handlers,
// too, and take no lock. Addresses are told as numbers: the range stays its
// owner's, and lives until ...Unmapped.

#ifndef FOOTPRINT_PROFILING_HEAP_ALLOCATOR_MAPPINGS_H_
#define FOOTPRINT_PROFILING_HEAP_ALLOCATOR_MAPPINGS_H_

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

__attribute__((weak)) void AllocatorMapped(uintptr_t begin, size_t size_bytes);
__attribute__((weak)) void AllocatorUnmapped(uintptr_t begin,
                                             size_t size_bytes);

__attribute__((weak)) void AgentMapped(uintptr_t begin, size_t size_bytes);
__attribute__((weak)) void AgentUnmapped(uintptr_t begin);

}  // namespace footprint::profiling_internal

// Tested by published_allocator_test.

#endif  // FOOTPRINT_PROFILING_HEAP_ALLOCATOR_MAPPINGS_H_
