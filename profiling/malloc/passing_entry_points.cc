// malloc and related functions for the preloaded agent. Each call goes to the
// allocator that the program would have called (next_allocator.h), and the
// bytes that it reports are counted in the thread's own counters.

#include <stddef.h>
#include <stdint.h>

#include "footprint/profiling/heap/mapping_hooks.h"
#include "footprint/profiling/malloc/next_allocator.h"
#include "footprint/profiling/malloc/passing_calls.h"

namespace footprint::profiling_internal {

__thread void* block_being_freed __attribute__((tls_model("initial-exec")));

bool IsAllocatorsCode(uintptr_t address) {
  return address - next_allocator.code_begin <
         next_allocator.code_end - next_allocator.code_begin;
}

}  // namespace footprint::profiling_internal

using footprint::profiling_internal::Counted;
using footprint::profiling_internal::CountedFree;
using footprint::profiling_internal::CountedReallocation;
using footprint::profiling_internal::next_allocator;

extern "C" {

void footprint_first_free(void* block) {
  CountedFree(block, [block] { next_allocator.free(block); });
}

void free(void* block) noexcept {
  CountedFree(block, [block] { next_allocator.free(block); });
}

void* malloc(size_t size) noexcept {
  return Counted([size] { return next_allocator.malloc(size); });
}

void* calloc(size_t count, size_t size) noexcept {
  return Counted([count, size] { return next_allocator.calloc(count, size); });
}

void* realloc(void* block, size_t size) noexcept {
  if (block == nullptr) return malloc(size);
  return CountedReallocation(block, /*null_frees=*/size == 0, [block, size] {
    return next_allocator.realloc(block, size);
  });
}

void* memalign(size_t alignment, size_t size) noexcept {
  return Counted(
      [alignment, size] { return next_allocator.memalign(alignment, size); });
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return Counted([alignment, size] {
    return next_allocator.aligned_alloc(alignment, size);
  });
}

int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  int error = 0;
  Counted([=, &error]() -> void* {
    error = next_allocator.posix_memalign(block, alignment, size);
    return error == 0 ? *block : nullptr;
  });
  return error;
}

void* valloc(size_t size) noexcept {
  return Counted([size] { return next_allocator.valloc(size); });
}

void* pvalloc(size_t size) noexcept {
  return Counted([size] { return next_allocator.pvalloc(size); });
}

}  // extern "C"
