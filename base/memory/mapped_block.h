// A fixed block of memory, taken from the system in whole pages and returned at
// the end.
//
//   absl::StatusOr<footprint::MappedBlock> arena =
//       footprint::MappedBlock::Allocate(plan.peak_bytes);
//   float* hidden = arena->At<float>(plan.hidden.offset_bytes);
//
// The bytes are zero. Owns them; movable, thread-compatible. Memory: whole
// pages, which take memory when they are touched. ResourceExhausted: the system
// cannot map so many bytes. For blocks that may be small, and for records
// beside a block, see memory_block.h.

#ifndef FOOTPRINT_BASE_MEMORY_MAPPED_BLOCK_H_
#define FOOTPRINT_BASE_MEMORY_MAPPED_BLOCK_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace footprint {

class MappedBlock {
 public:
  // Allocates a block with an inaccessible page after it: a program that goes
  // beyond its plan ends at once. `bytes` is at least 0.
  static absl::StatusOr<MappedBlock> Allocate(int64_t bytes);

  // Allocates a block without such a page, and asks the system for huge pages,
  // which need fewer address translations. The system gives them if it can.
  // `bytes` is at least 1.
  static absl::StatusOr<MappedBlock> AllocateHuge(int64_t bytes);

  MappedBlock() = default;
  MappedBlock(MappedBlock&& other) noexcept { *this = std::move(other); }
  MappedBlock& operator=(MappedBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(guard_bytes_, other.guard_bytes_);
    return *this;
  }
  ~MappedBlock();

  template <class T>
  T* At(int64_t offset_bytes) const {
    return reinterpret_cast<T*>(data_ + offset_bytes);
  }
  // Returns the size, rounded up to whole pages.
  int64_t size_bytes() const { return bytes_; }

 private:
  static absl::StatusOr<MappedBlock> Map(int64_t bytes, int64_t guard_bytes);

  char* data_ = nullptr;
  int64_t bytes_ = 0;
  int64_t guard_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_MAPPED_BLOCK_H_
