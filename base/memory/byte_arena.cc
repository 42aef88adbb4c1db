#include "footprint/base/memory/byte_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

int64_t PageBytes() { return sysconf(_SC_PAGESIZE); }

}  // namespace

absl::StatusOr<ByteArena> ByteArena::Allocate(int64_t bytes) {
  const int64_t page = PageBytes();
  ByteArena arena;
  arena.bytes_ = (bytes + page - 1) / page * page;
  void* data = mmap(nullptr, arena.bytes_ + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    arena.bytes_ = 0;
    return absl::ResourceExhaustedError(
        absl::StrCat("no run of ", bytes, " bytes of memory"));
  }
  arena.data_ = static_cast<char*>(data);
  mprotect(arena.data_ + arena.bytes_, page, PROT_NONE);
  return arena;
}

ByteArena::~ByteArena() {
  if (data_ != nullptr) munmap(data_, bytes_ + PageBytes());
}

int64_t ByteArena::ResidentBytes() const {
  const int64_t page = PageBytes();
  unsigned char present[256];
  int64_t pages = 0;
  for (int64_t offset = 0; offset < bytes_; offset += page * 256) {
    const int64_t length = std::min<int64_t>(bytes_ - offset, page * 256);
    if (mincore(data_ + offset, length, present) != 0) continue;
    for (int64_t i = 0; i < length / page; ++i) pages += present[i] & 1;
  }
  return pages * page;
}

}  // namespace footprint
