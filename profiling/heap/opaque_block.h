// Keeps the compiler from removing the allocation of a block that is never
// used.
//
//   std::free(Opaque(std::malloc(size)));
//
// Returns `block`. Thread-safe; nothing is kept.

#ifndef FOOTPRINT_PROFILING_HEAP_OPAQUE_BLOCK_H_
#define FOOTPRINT_PROFILING_HEAP_OPAQUE_BLOCK_H_

namespace footprint {

inline void* Opaque(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_HEAP_OPAQUE_BLOCK_H_
