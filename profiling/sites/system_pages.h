// Pages from the kernel, for code that runs inside malloc. They are not
// counted, never become heap memory, and are reported as the agent's own rather
// than the program's.
//
//   auto* table = static_cast<Entry*>(TakePages(count * sizeof(Entry)));
//
// The caller owns the pages until GivePagesBack or the end of the process.
// Thread-safe.

#ifndef FOOTPRINT_PROFILING_SITES_SYSTEM_PAGES_H_
#define FOOTPRINT_PROFILING_SITES_SYSTEM_PAGES_H_

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "footprint/profiling/heap/mapping_hooks.h"
#include "footprint/profiling/heap/system_mmap.h"

namespace footprint::profiling_internal {

// Returns pages of zeros, or null if the kernel has no memory.
inline void* TakePages(size_t size_bytes) {
  void* const pages = SystemMmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  if (AgentMapped != nullptr) {
    AgentMapped(reinterpret_cast<uintptr_t>(pages), size_bytes);
  }
  return pages;
}

// Returns pages of TakePages to the kernel. Does nothing for null.
inline void GivePagesBack(void* pages, size_t size_bytes) {
  if (pages == nullptr) return;
  // The hook comes first: once unmapped, the addresses may be another
  // mapping's.
  if (AgentUnmapped != nullptr) {
    AgentUnmapped(reinterpret_cast<uintptr_t>(pages));
  }
  syscall(SYS_munmap, pages, size_bytes);
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_SYSTEM_PAGES_H_
