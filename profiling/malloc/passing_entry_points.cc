// malloc and its kin for the preloaded agent: each call goes to the allocator
// that the program would have called (next_allocator.h), and what that says it
// gave is counted beside it, in the thread's own counters.
//
// operator new stays the program's: libstdc++'s calls malloc.

#include <stddef.h>
#include <stdint.h>

#include "footprint/profiling/heap/heap_counters.h"
#include "footprint/profiling/heap/mapping_hooks.h"
#include "footprint/profiling/malloc/counted_blocks.h"
#include "footprint/profiling/malloc/next_allocator.h"
#include "footprint/profiling/sites/recorded_calls.h"

namespace footprint::profiling_internal {
namespace {

inline int64_t SizeOf(const void* block) {
  return static_cast<int64_t>(UsableSize(block));
}

// Counts what `call` hands out: a function of no argument that asks the next
// allocator. One that is not the C library's may itself call these entry
// points, and then has counted the block already.
template <typename Call>
inline void* Counted(Call call) {
  if (__builtin_expect(next_allocator.has_glibc_headers, 1)) {
    void* const block = call();
    if (__builtin_expect(block == nullptr, 0)) return nullptr;
    CountBlock<SizeOf>(block, GlibcUsableSize(block));
    return block;
  }
  const uint64_t before = counted_bytes.allocated;
  void* const block = call();
  if (block == nullptr) return nullptr;
  const uint64_t bytes = UsableSize(block);
  if (counted_bytes.allocated - before != bytes) {
    CountBlock<SizeOf>(block, bytes);
  }
  return block;
}

// A thread that never called must not begin to count here for null: the C
// library frees that at a thread's end, when nothing would close the counters
// again.
inline void CountedFree(void* block) {
  if (block == nullptr) return;
  ForgetBlock<SizeOf>(block, UsableSize(block));
  if (ThreadIsRegistered()) return next_allocator.free(block);
  next_allocator.free(block);
  CountFree();
}

void* CountedReallocation(void* block, size_t size) {
  const bool null_frees = size == 0;
  const uint64_t old_bytes = UsableSize(block);
  const bool may_be_remapped = MayMoveWithoutCopy(block);
  RecordedReallocation<SizeOf> recorded(block);
  Reallocation reallocation;
  const uint64_t allocated_before = counted_bytes.allocated;
  void* const moved = next_allocator.realloc(block, size);
  const uint64_t new_bytes = moved == nullptr ? 0 : UsableSize(moved);
  const bool is_counted =
      moved != nullptr &&
      counted_bytes.allocated - allocated_before == new_bytes;
  if (!is_counted && (moved != nullptr || null_frees)) {
    Raise(&counted_bytes.allocated, new_bytes);
    Raise(&counted_bytes.deallocated, old_bytes);
  }
  const bool in_place =
      moved == block ||
      (moved != nullptr && may_be_remapped && MayMoveWithoutCopy(moved));
  recorded.After(moved, null_frees, in_place, static_cast<int64_t>(old_bytes));
  reallocation.After(in_place, /*succeeded=*/moved != nullptr);
  recorded.AfterLook();
  return moved;
}

}  // namespace

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

void footprint_first_free(void* block) { CountedFree(block); }

void* malloc(size_t size) noexcept {
  return Counted([size] { return next_allocator.malloc(size); });
}

void* calloc(size_t count, size_t size) noexcept {
  return Counted([count, size] { return next_allocator.calloc(count, size); });
}

void* realloc(void* block, size_t size) noexcept {
  if (block == nullptr) return malloc(size);
  return CountedReallocation(block, size);
}

void free(void* block) noexcept { CountedFree(block); }

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
