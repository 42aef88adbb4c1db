// Optional hooks, called by mmap's entry points and by the code that maps
// memory for the agent's own tables.
//
//   if (AgentMapped != nullptr) AgentMapped(begin, size_bytes);
//
// The hooks are weak symbols: null unless a library defines them. They are
// called inside mmap, so they must not allocate; they are thread-safe. The
// agent's hooks are also called in signal handlers and take no lock. Addresses
// are passed as numbers, and the caller keeps the ownership of the range.

#ifndef FOOTPRINT_PROFILING_HEAP_MAPPING_HOOKS_H_
#define FOOTPRINT_PROFILING_HEAP_MAPPING_HOOKS_H_

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/heap/mapped_ranges.h"

namespace footprint::profiling_internal {

// mmap's entry points call this after the set of ranges that the program has
// mapped changed; `ranges` may be read until it returns. Two threads never call
// it at once. published_mappings.h defines it.
__attribute__((weak)) void ProgramMappingsChanged(const MappedRanges& ranges);

// Calls ProgramMappingsChanged with the ranges that are mapped now.
void ReportProgramMappings();

// A recorder of call sites defines these (call_sites.h). They are called on the
// thread that maps or unmaps memory, after the set changed, and never by two
// threads at once. Unless `by_this_call`, an earlier call of the thread mapped
// the range.
__attribute__((weak)) void ProgramMapped(uintptr_t begin, size_t size_bytes,
                                         bool by_this_call);
__attribute__((weak)) void ProgramUnmapped(uintptr_t begin, size_t size_bytes);
// Returns whether a signal handler runs that interrupted the recorder on this
// thread, which may hold a lock that the other two wait for.
__attribute__((weak)) bool InterruptsRecorder();

// Returns whether the address lies in the code of an allocator, whose mappings
// do not count as the program's.
__attribute__((weak)) bool IsAllocatorsCode(uintptr_t address);

// The agent calls these when it maps pages for its own tables, and when it
// unmaps them.
__attribute__((weak)) void AgentMapped(uintptr_t begin, size_t size_bytes);
__attribute__((weak)) void AgentUnmapped(uintptr_t begin);

}  // namespace footprint::profiling_internal

// Tested by published_mappings_test.

#endif  // FOOTPRINT_PROFILING_HEAP_MAPPING_HOOKS_H_
