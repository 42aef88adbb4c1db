// Multiples of an alignment.
//
//   trainer_manager_internal::AlignUp(100, 64);  // 128
//
// Pure, thread-safe; nothing is allocated.

#ifndef FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_
#define FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_

#include <cstdint>

namespace footprint {
namespace trainer_manager_internal {

// The least multiple of `alignment`, a power of two, that is not below
// `offset`. Their sum must fit 64 bits.
inline int64_t AlignUp(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_ALIGNMENT_H_
