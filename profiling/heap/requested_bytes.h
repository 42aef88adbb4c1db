// Counts heap bytes as the program requested them, not as the allocator rounds
// them. A table from block to size is looked up at every call. This is the
// opt-in mode of `exact_heap_with_requested_bytes`; it costs several times as
// much as counting usable bytes.
//
//   void* block = Allocate(size);
//   AddRequestedBlock(block, size);
//   ...
//   RemoveRequestedBlock(block);
//   Free(block);
//
// Owns no block: it keeps addresses as numbers. Thread-safety: every function
// may be called from any thread. Remove a block before it is freed and add it
// after it was allocated, so that no other thread can hold the same address
// meanwhile. Memory: 32 to 64 bytes for each block of the highest number live
// at once, and at least 16 KiB in each of 64 parts, from the kernel and not
// from the heap. The process aborts if the kernel has no memory.

#ifndef FOOTPRINT_PROFILING_HEAP_REQUESTED_BYTES_H_
#define FOOTPRINT_PROFILING_HEAP_REQUESTED_BYTES_H_

#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

// Counts a block.
void AddRequestedBlock(const void* block, size_t size_bytes);

// Returns the size that the block was added with; 0 if it is unknown.
size_t RemoveRequestedBlock(const void* block);

// Adds `block` in place of a detached block of `old_bytes`, whose bytes still
// count. If the block moved, both count for a moment.
void ReplaceRequestedBlock(size_t old_bytes, const void* block,
                           size_t size_bytes, bool in_place);

// Removes a block from the table but still counts its bytes, as a realloc
// needs. Returns the block's size; 0 if it is unknown.
size_t DetachRequestedBlock(const void* block);

// Stops counting the bytes of a detached block.
void DropRequestedBytes(size_t size_bytes);

// Returns the bytes that count now.
int64_t LiveRequestedBytes();

// Returns the high-water mark since the last call; the next one begins at the
// bytes that are live now.
int64_t TakeRequestedPeakBytes();

}  // namespace footprint::profiling_internal

// Tested by entry_points_test and heap_accounting_test, each in its second
// build.

#endif  // FOOTPRINT_PROFILING_HEAP_REQUESTED_BYTES_H_
