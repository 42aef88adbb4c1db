// Counts heap bytes as the program asked for them, not as the allocator rounds
// them: a table from block to size, looked up at every call. The opt-in mode of
// `exact_heap_with_requested_bytes`; costs several times what usable bytes
// cost.
//
//   void* block = Allocate(size);
//   AddRequestedBlock(block, size);
//   ...
//   RemoveRequestedBlock(block);
//   Free(block);
//
// Owns no block: it keeps addresses, as numbers. Thread-safety: every function
// may be called from any thread. A block must be removed before it is freed and
// added after it was handed out, so that no other thread can hold the same
// address meanwhile. Memory: 16 to 64 bytes a live block, from the kernel, not
// from the heap.

#ifndef FOOTPRINT_PROFILING_HEAP_REQUESTED_BYTES_H_
#define FOOTPRINT_PROFILING_HEAP_REQUESTED_BYTES_H_

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

void AddRequestedBlock(const void* block, size_t size_bytes);

// Returns the size that the block was added with; 0 if it is unknown.
size_t RemoveRequestedBlock(const void* block);

// Replaces what was removed from the table as `old_bytes`, whose bytes still
// count, by `block`. Where the block moved, both count for the moment.
void ReplaceRequestedBlock(size_t old_bytes, const void* block,
                           size_t size_bytes, bool in_place);

// Takes a block out of the table without ceasing to count its bytes: what comes
// before a realloc.
size_t DetachRequestedBlock(const void* block);

// Ceases to count detached bytes.
void DropRequestedBytes(size_t size_bytes);

int64_t LiveRequestedBytes();

// The high-water mark since the last call; the next begins at what is live now.
int64_t TakeRequestedPeakBytes();

}  // namespace footprint::profiling_internal

// Tested by entry_points_test and heap_accounting_test, each in its second
// build.

#endif  // FOOTPRINT_PROFILING_HEAP_REQUESTED_BYTES_H_
