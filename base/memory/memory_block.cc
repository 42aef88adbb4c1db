#include "footprint/base/memory/memory_block.h"

#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

constexpr int64_t kMappedFromBytes = int64_t{32} << 10;
constexpr int64_t kRecordAlignmentBytes = 8;
// More than any memory; the sum of two such numbers does not overflow.
constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max() / 4;

// Returns whether records behind the bytes need one more page.
bool NeedsPage(int64_t size_bytes, int64_t total_bytes) {
  return size_bytes >= kMappedFromBytes &&
         AlignUp(total_bytes, kPageBytes) > AlignUp(size_bytes, kPageBytes);
}

absl::Status NoMemory(int64_t size_bytes, int64_t record_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "no memory for a block of ", size_bytes, " bytes",
      record_bytes == 0 ? ""
                        : absl::StrCat(" with records of ", record_bytes)));
}

// Returns zeroed memory, or null.
void* Obtain(int64_t size_bytes) {
  const size_t size = static_cast<size_t>(size_bytes);
  if (size_bytes >= kMappedFromBytes) {
    void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? nullptr : data;
  }
  void* const data =
      ::operator new(size, std::align_val_t(kLineBytes), std::nothrow);
  if (data != nullptr) std::memset(data, 0, size);
  return data;
}

}  // namespace

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      records_(std::exchange(other.records_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      allocated_bytes_(std::exchange(other.allocated_bytes_, 0)) {}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(records_, other.records_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(allocated_bytes_, other.allocated_bytes_);
  return *this;
}

MemoryBlock::~MemoryBlock() {
  if (IsApart()) ::operator delete(records_);
  if (data_ == nullptr) return;
  if (allocated_bytes_ >= kMappedFromBytes) {
    munmap(data_, static_cast<size_t>(allocated_bytes_));
  } else {
    ::operator delete(data_, std::align_val_t(kLineBytes));
  }
}

char* MemoryBlock::BehindBytes() const {
  return data_ + AlignUp(size_bytes_, kRecordAlignmentBytes);
}

absl::StatusOr<MemoryBlock> MemoryBlock::Allocate(int64_t size_bytes,
                                                  int64_t record_bytes) {
  if (size_bytes < 0 || record_bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a block of ", size_bytes, " bytes with records of ", record_bytes));
  }
  MemoryBlock block;
  if (size_bytes == 0 && record_bytes == 0) return block;
  if (size_bytes > kMostBytes || record_bytes > kMostBytes) {
    return NoMemory(size_bytes, record_bytes);
  }
  int64_t total_bytes = size_bytes;
  if (record_bytes > 0) {
    total_bytes = AlignUp(size_bytes, kRecordAlignmentBytes) + record_bytes;
  }
  const bool is_apart = NeedsPage(size_bytes, total_bytes);
  block.allocated_bytes_ = is_apart ? size_bytes : total_bytes;
  block.data_ = static_cast<char*>(Obtain(block.allocated_bytes_));
  if (block.data_ == nullptr) return NoMemory(size_bytes, record_bytes);
  block.size_bytes_ = size_bytes;
  if (is_apart) {
    const size_t apart_bytes = static_cast<size_t>(record_bytes);
    block.records_ =
        static_cast<char*>(::operator new(apart_bytes, std::nothrow));
    if (block.records_ == nullptr) return NoMemory(size_bytes, record_bytes);
    std::memset(block.records_, 0, apart_bytes);
  } else if (record_bytes > 0) {
    block.records_ = block.BehindBytes();
  }
  return block;
}

}  // namespace footprint
