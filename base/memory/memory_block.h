// One block of memory, allocated and freed as a whole.
//
//   absl::StatusOr<footprint::MemoryBlock> arena =
//       footprint::MemoryBlock::Allocate(1 << 20);
//
// Records may come with it. They lie behind the bytes, in space that rounding
// would leave unused. If a mapping would need another page for them, they get a
// block of their own.
//
// The bytes are zero and aligned to 64, records to 8. Owns both, but runs no
// destructors of records; movable, thread-compatible. Memory: a block of 32 KiB
// or more is mapped by itself and rounded up to a page, since an allocator's
// size classes would round it up by up to a quarter. It takes memory only when
// it is touched. A smaller block comes from the heap.

#ifndef FOOTPRINT_BASE_MEMORY_MEMORY_BLOCK_H_
#define FOOTPRINT_BASE_MEMORY_MEMORY_BLOCK_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace footprint {

class MemoryBlock {
 public:
  // Makes an empty block.
  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;
  ~MemoryBlock();

  // Allocates a block; one of 0 bytes without records is empty. Returns
  // ResourceExhausted if there is not so much memory, with the size in the
  // message, and InvalidArgument for a negative size.
  static absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                              int64_t record_bytes = 0);

  // Returns null if the block is empty.
  char* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }
  // Returns null if there are no records.
  char* records() const { return records_; }

 private:
  bool IsApart() const {
    return records_ != nullptr && records_ != BehindBytes();
  }
  char* BehindBytes() const;

  char* data_ = nullptr;
  char* records_ = nullptr;
  int64_t size_bytes_ = 0;
  int64_t allocated_bytes_ = 0;  // of the block
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_MEMORY_BLOCK_H_
