// A fixed run of memory, taken from the system in whole pages and given back at
// the end.
//
//   absl::StatusOr<footprint::ByteArena> arena =
//       footprint::ByteArena::Allocate(plan.peak_bytes);
//   float* hidden = arena->At<float>(plan.hidden.offset_bytes);
//
// The page behind it cannot be touched: a program that goes beyond its plan
// ends at once. Movable. Memory: as asked for, up to whole pages, as it is
// touched. ResourceExhausted: the system has no such run.

#ifndef FOOTPRINT_BASE_MEMORY_BYTE_ARENA_H_
#define FOOTPRINT_BASE_MEMORY_BYTE_ARENA_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace footprint {

class ByteArena {
 public:
  static absl::StatusOr<ByteArena> Allocate(int64_t bytes);

  ByteArena() = default;
  ByteArena(ByteArena&& other) noexcept { *this = std::move(other); }
  ByteArena& operator=(ByteArena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ByteArena();

  template <class T>
  T* At(int64_t offset_bytes) const {
    return reinterpret_cast<T*>(data_ + offset_bytes);
  }
  // Whole pages.
  int64_t size_bytes() const { return bytes_; }
  // The pages that are in memory now, as the kernel counts them.
  int64_t ResidentBytes() const;

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_BYTE_ARENA_H_
