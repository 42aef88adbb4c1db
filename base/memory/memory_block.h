// One block of memory, obtained at once and given back at once.
//
//   absl::StatusOr<footprint::MemoryBlock> arena =
//       footprint::MemoryBlock::Allocate(1 << 20);
//
// Records may come with it: they lie behind the bytes, in what rounding would
// leave unused, but not where a mapping would need another page for them.
//
// The bytes are zero and aligned to 64, records to 8. Owns them, but runs no
// destructor of records; movable, thread-compatible.
// Memory: a block of 32 KiB or more is mapped by itself, rounded up to a page,
// since an allocator's size classes would round it up by up to a quarter, and
// takes memory only as it is touched; a smaller one comes from the heap.

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

  // ResourceExhausted: the system has not so much; the text says how much.
  // InvalidArgument: a negative size. A block of 0 bytes is empty.
  static absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                              int64_t record_bytes = 0);

  // Returns null when empty.
  char* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }
  // Returns null when there are none.
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
