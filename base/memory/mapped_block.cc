#include "footprint/base/memory/mapped_block.h"

#include <sys/mman.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {

absl::StatusOr<MappedBlock> MappedBlock::Map(int64_t bytes,
                                             int64_t guard_bytes) {
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  // Sizes near the limits of 64 bits would become small ones when rounded up.
  const bool is_possible =
      bytes >= 0 && bytes <= INT64_MAX - page_bytes - guard_bytes;
  const int64_t whole_bytes = is_possible ? AlignUp(bytes, page_bytes) : 0;
  void* const data =
      is_possible
          ? mmap(nullptr, static_cast<size_t>(whole_bytes + guard_bytes),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          : MAP_FAILED;
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no run of ", bytes, " bytes of memory"));
  }
  MappedBlock block;
  block.data_ = static_cast<char*>(data);
  block.bytes_ = whole_bytes;
  block.guard_bytes_ = guard_bytes;
  return block;
}

absl::StatusOr<MappedBlock> MappedBlock::Allocate(int64_t bytes) {
  absl::StatusOr<MappedBlock> block = Map(bytes, sysconf(_SC_PAGESIZE));
  if (block.ok()) {
    mprotect(block->data_ + block->bytes_,
             static_cast<size_t>(block->guard_bytes_), PROT_NONE);
  }
  return block;
}

absl::StatusOr<MappedBlock> MappedBlock::AllocateHuge(int64_t bytes) {
  absl::StatusOr<MappedBlock> block = Map(bytes, 0);
  if (block.ok()) {
    madvise(block->data_, static_cast<size_t>(block->bytes_), MADV_HUGEPAGE);
  }
  return block;
}

MappedBlock::~MappedBlock() {
  if (data_ != nullptr) {
    munmap(data_, static_cast<size_t>(bytes_ + guard_bytes_));
  }
}

}  // namespace footprint
