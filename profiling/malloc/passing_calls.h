// Passes calls on to the allocator that the program would have called, and
// counts them. passing_entry_points.cc and passing_operators.cc share this
// code.
//
//   return Counted([size] { return next_allocator.malloc(size); });
//   CountedFree(block, [block] { next_allocator.free(block); });
//
// An allocator other than the C library's may call the agent's entry points
// from inside the call; its block is counted once. Thread-safe; blocks are the
// program's. Time: some ten instructions besides the call, unless a peak or a
// sample is due. It allocates nothing and never fails: a null result is
// returned uncounted, and an exception passes through.

#ifndef FOOTPRINT_PROFILING_MALLOC_PASSING_CALLS_H_
#define FOOTPRINT_PROFILING_MALLOC_PASSING_CALLS_H_

#include <stddef.h>
#include <stdint.h>

#include "footprint/profiling/heap/heap_counters.h"
#include "footprint/profiling/malloc/counted_blocks.h"
#include "footprint/profiling/malloc/next_allocator.h"
#include "footprint/profiling/sites/recorded_calls.h"

namespace footprint::profiling_internal {

// The block that this thread is freeing. Its allocator may call `free` for it,
// which must not count it again.
extern __thread void* block_being_freed __asm__("footprint_block_being_freed")
    __attribute__((tls_model("initial-exec")));

// Returns the usable bytes of a block that is not null.
inline int64_t NextSizeOf(const void* block) {
  return static_cast<int64_t>(UsableSize(block));
}

// Counts the block that `call` returns. `call` has no arguments and calls the
// next allocator.
template <typename Call>
inline void* Counted(Call call) {
  if (__builtin_expect(next_allocator.has_glibc_headers, 1)) {
    void* const block = call();
    if (__builtin_expect(block == nullptr, 0)) return nullptr;
    CountBlock<NextSizeOf>(block, GlibcUsableSize(block));
    return block;
  }
  const uint64_t before = counted_bytes.allocated;
  void* const block = call();
  if (block == nullptr) return nullptr;
  const uint64_t bytes = UsableSize(block);
  if (counted_bytes.allocated - before != bytes) {
    CountBlock<NextSizeOf>(block, bytes);
  }
  return block;
}

// Counts a free and passes it on; does nothing for null. The C library frees
// null at a thread's end, and counting that would open counters that nothing
// closes again.
template <typename Call>
inline void CountedFree(void* block, Call call) {
  if (block == nullptr) return;
  if (__builtin_expect(!next_allocator.has_glibc_headers, 0)) {
    if (block == block_being_freed) return call();
    block_being_freed = block;
    ForgetBlock<NextSizeOf>(block, UsableSize(block));
    call();
    block_being_freed = nullptr;
  } else {
    ForgetBlock<NextSizeOf>(block, GlibcUsableSize(block));
    if (ThreadIsRegistered()) return call();
    call();
  }
  if (!ThreadIsRegistered()) CountFree();
}

// Passes a reallocation on and counts it. `call` may move the block, and
// returns its new address, or null. If the allocator frees the old block
// through the agent's `free`, it is counted here and not there.
template <typename Call>
void* CountedReallocation(void* block, bool null_frees, Call call) {
  const uint64_t old_bytes = UsableSize(block);
  const bool may_be_remapped = MayMoveWithoutCopy(block);
  RecordedReallocation<NextSizeOf> recorded(block);
  Reallocation reallocation;
  const uint64_t allocated_before = counted_bytes.allocated;
  block_being_freed = block;
  void* const moved = call();
  block_being_freed = nullptr;
  const uint64_t new_bytes = moved == nullptr ? 0 : UsableSize(moved);
  if (moved != nullptr || null_frees) {
    if (counted_bytes.allocated - allocated_before != new_bytes) {
      Raise(&counted_bytes.allocated, new_bytes);
    }
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

}  // namespace footprint::profiling_internal

// Tested by //profiling/memprof:linked_allocators_test.

#endif  // FOOTPRINT_PROFILING_MALLOC_PASSING_CALLS_H_
