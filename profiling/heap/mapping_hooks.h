// Optional hooks of mmap's entry points, and of whoever takes memory for the
// agent's own tables.
//
//   if (AgentMapped != nullptr) AgentMapped(begin, size_bytes);
//
// Weak: null where nobody defines them. Called inside mmap, so they must not
// allocate; thread-safe. The agent's are called in signal handlers, too, and
// take no lock. Addresses are told as numbers: the range stays its owner's.

#ifndef FOOTPRINT_PROFILING_HEAP_MAPPING_HOOKS_H_
#define FOOTPRINT_PROFILING_HEAP_MAPPING_HOOKS_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/heap/mapped_ranges.h"

namespace footprint::profiling_internal {

// Called after what the program has mapped changed; `ranges` may be read until
// it returns. Never by two threads at once. published_mappings.h defines it.
__attribute__((weak)) void ProgramMappingsChanged(const MappedRanges& ranges);

// Calls the hook with what is mapped now.
void TellProgramMappings();

// Returns whether the address lies in the code of an allocator whose mappings
// are its own and not the program's.
__attribute__((weak)) bool IsAllocatorsCode(uintptr_t address);

// The agent took these pages from the kernel, or gives them back.
__attribute__((weak)) void AgentMapped(uintptr_t begin, size_t size_bytes);
__attribute__((weak)) void AgentUnmapped(uintptr_t begin);

}  // namespace footprint::profiling_internal

// Tested by published_mappings_test.

#endif  // FOOTPRINT_PROFILING_HEAP_MAPPING_HOOKS_H_
