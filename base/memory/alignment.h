// Rounds up to multiples of an alignment, and names the alignments of memory.
//
//   footprint::AlignUp(100, footprint::kLineBytes);  // 128
//
// Pure, thread-safe; nothing is allocated.

#ifndef FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_
#define FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_

#include <cstdint>

namespace footprint {

// The page size that plans, files and direct reads use. The system's own pages
// may be larger; sysconf returns their size.
inline constexpr int64_t kPageBytes = 4096;

// The size of a cache line, which also aligns every vector instruction.
inline constexpr int64_t kLineBytes = 64;

// Returns the least multiple of `alignment`, a power of two, that is at least
// `offset`. Their sum must fit 64 bits.
constexpr int64_t AlignUp(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_
