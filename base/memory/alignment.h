// Multiples of an alignment, and the alignments that memory has.
//
//   footprint::AlignUp(100, footprint::kLineBytes);  // 128
//
// Pure, thread-safe; nothing is allocated.

#ifndef FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_
#define FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_

#include <cstdint>

namespace footprint {

// Unit in which plans, files and direct reads count. A system's own pages may
// be larger; sysconf says how large.
inline constexpr int64_t kPageBytes = 4096;

// A line of the processor's caches, and enough for every vector instruction.
inline constexpr int64_t kLineBytes = 64;

// The least multiple of `alignment`, a power of two, that is not below
// `offset`. Their sum must fit 64 bits.
constexpr int64_t AlignUp(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_
