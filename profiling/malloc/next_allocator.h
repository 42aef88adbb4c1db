// Finds the allocator that the measured program would call without the agent,
// and calls it.
//
//   void* const block = next_allocator.malloc(100);
//   const size_t usable_bytes = next_allocator.usable_size(block);
//   next_allocator.free(block);
//
// The functions are those that follow the agent's in the loader's order of
// symbols: the C library's, or those of an allocator that the program was
// linked with or that was preloaded behind the agent. They are looked up at the
// first call. Blocks that are allocated during the lookup come from a small
// array here, and `free` ignores them; aligned allocations fail meanwhile.
//
// An allocator that does not report the sizes of its blocks, or reports less
// than was requested, cannot be counted. Then `can_be_counted` is false and
// every size is 0, but calls are still passed on.
//
// Thread-safe, if there is one thread at the first call. Callers own their
// blocks. Memory: 64 KiB of zeroed data. Time:
// an indirect call.

#ifndef FOOTPRINT_PROFILING_MALLOC_NEXT_ALLOCATOR_H_
#define FOOTPRINT_PROFILING_MALLOC_NEXT_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>

namespace footprint::profiling_internal {

struct NextAllocator {
  void* (*malloc)(size_t size);
  void* (*calloc)(size_t count, size_t size);
  void* (*realloc)(void* block, size_t size);
  void (*free)(void* block);
  void* (*memalign)(size_t alignment, size_t size);
  void* (*aligned_alloc)(size_t alignment, size_t size);
  int (*posix_memalign)(void** block, size_t alignment, size_t size);
  void* (*valloc)(size_t size);
  void* (*pvalloc)(size_t size);
  size_t (*usable_size)(void* block);

  // The code that contains the functions. Mappings that are made from it are
  // the allocator's. Both are 0 for the C library's own functions.
  uintptr_t code_begin;
  uintptr_t code_end;
  bool is_c_library;
  bool can_be_counted;
  // True if each block has glibc's header before it, from which its size is
  // read without a call and without reading the block behind it.
  bool has_glibc_headers;
};

// Constant-initialised, so that it works before every constructor.
extern NextAllocator next_allocator;

// Looks up the functions, unless an earlier call has done so.
void FindNextAllocator();

// Tests again whether the allocator reports sizes, if it did not: gperftools
// does after its constructor. Call it once, in a constructor after all others,
// while there is one thread.
void FindHowToCountAgain();

// Writes the name of the allocator that serves the program, for example "glibc
// 2.36" or "libjemalloc.so.2", of at most `capacity` - 1 bytes. An allocator in
// front of the agent is "private in FILE", one that cannot be counted is "FILE,
// which tells no sizes", and one of no known object is "unknown". Takes the
// loader's lock, so the child of a fork must not call it.
void WriteNextAllocatorName(char* name, size_t capacity);

// The header of a chunk in malloc/malloc.c, since version 2.0: its size, and
// flags in the lowest bits.
inline size_t ReadGlibcHeader(const void* block) {
  return static_cast<const size_t*>(block)[-1];
}
inline constexpr size_t kGlibcFlags = 7;
inline constexpr size_t kGlibcIsMapped = 2;

// Returns the same as malloc_usable_size: a chunk has one word of overhead, and
// a chunk in pages of its own has two.
inline size_t GlibcUsableSize(const void* block) {
  const size_t header = ReadGlibcHeader(block);
  return (header & ~kGlibcFlags) -
         ((header & kGlibcIsMapped) != 0 ? 2 : 1) * sizeof(size_t);
}

// Returns the usable bytes of a block that is not null.
inline size_t UsableSize(const void* block) {
  return __builtin_expect(next_allocator.has_glibc_headers, 1)
             ? GlibcUsableSize(block)
             : next_allocator.usable_size(const_cast<void*>(block));
}

// Returns whether the block lies in pages of its own that the C library may
// move without copying their content.
inline bool MayMoveWithoutCopy(const void* block) {
  return next_allocator.has_glibc_headers &&
         (ReadGlibcHeader(block) & kGlibcIsMapped) != 0;
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_MALLOC_NEXT_ALLOCATOR_H_
