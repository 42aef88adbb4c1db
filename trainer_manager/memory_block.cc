#include "footprint/trainer_manager/memory_block.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr int64_t kMappedFromBytes = int64_t{32} << 10;

}  // namespace

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

MemoryBlock::~MemoryBlock() {
  if (data_ == nullptr) return;
  if (size_bytes_ >= kMappedFromBytes) {
    munmap(data_, static_cast<size_t>(size_bytes_));
  } else {
    ::operator delete(data_, std::align_val_t(kAlignmentBytes));
  }
}

absl::StatusOr<MemoryBlock> MemoryBlock::Allocate(int64_t size_bytes) {
  MemoryBlock block;
  if (size_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a block of ", size_bytes, " bytes"));
  }
  if (size_bytes == 0) return block;
  const size_t size = static_cast<size_t>(size_bytes);
  void* data = nullptr;
  if (size_bytes >= kMappedFromBytes) {
    data = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) data = nullptr;
  } else {
    data =
        ::operator new(size, std::align_val_t(kAlignmentBytes), std::nothrow);
    if (data != nullptr) std::memset(data, 0, size);
  }
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a block of ", size_bytes, " bytes"));
  }
  block.data_ = static_cast<char*>(data);
  block.size_bytes_ = size_bytes;
  return block;
}

}  // namespace footprint
